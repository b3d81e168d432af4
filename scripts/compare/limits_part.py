"""How far our inner loops are from what the machine can do, as two small Rust programs measure it."""

import json
import subprocess

PART = "limits"
PROGRAMS = {"solvers": "machine_limits", "baselines": "nearest_limits"}


def run(ours, journal, root, build, say):
    key = {"part": PART, "program": ours.identity}
    if journal.find(**key):
        return
    measured = {}
    for crate, example in PROGRAMS.items():
        say(f"limits: {example}")
        program = build(["-p", crate, "--example", example], f"examples/{example}")
        answer = subprocess.run([program], check=True, capture_output=True, text=True, cwd=root).stdout
        measured[example] = json.loads(answer)
    journal.add({**key, **measured})
