"""How far our inner loops are from what the machine can do, as two small Rust programs measure it."""

import functools
import json
import subprocess

PART = "limits"
# By crate; built in one go, so that what they share is built once.
PROGRAMS = {"solvers": "machine_limits", "baselines": "nearest_limits"}


def run(ours, journal, root, build, say):
    key = {"part": PART, "program": ours.identity}
    if journal.find(**key):
        return
    build = functools.partial(build, [option for crate, example in PROGRAMS.items()
                                      for option in ("-p", crate, "--example", example)])
    measured = {}
    for example in PROGRAMS.values():
        say(f"limits: {example}")
        program = build(f"examples/{example}")
        answer = subprocess.run([program], check=True, capture_output=True, text=True, cwd=root).stdout
        measured[example] = json.loads(answer)
    journal.add({**key, **measured})
