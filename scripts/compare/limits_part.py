"""How far our inner loops are from what the machine can do, and what no solver can go below, as two small Rust programs
measure it."""

import functools
import json
import os
import subprocess

from compare import growth_part, solver_part

PART = "limits"
# By crate; built in one go, so that what they share is built once.
PROGRAMS = {"solvers": "machine_limits", "baselines": "nearest_limits"}


def run(ours, journal, root, build, say):
    # With the shapes: when other parts have measured new ones, this part is measured again.
    key = {"part": PART, "program": ours.identity, "shapes": shapes(journal, ours.identity)}
    if journal.find(**key):
        return
    build = functools.partial(build, [option for crate, example in PROGRAMS.items()
                                      for option in ("-p", crate, "--example", example)])
    arguments = {"machine_limits": key["shapes"]}
    environment = {name: value for name, value in os.environ.items() if name != "RAYON_NUM_THREADS"}
    measured = {}
    for example in PROGRAMS.values():
        say(f"limits: {example}")
        program = build(f"examples/{example}")
        answer = subprocess.run([program, *arguments.get(example, [])], check=True, stdout=subprocess.PIPE, text=True,
                                cwd=root, env=environment).stdout
        measured[example] = json.loads(answer)
    journal.add({**key, **measured})


def shapes(journal, program):
    """Of all problems that were solved."""
    entries = [entry for part in (solver_part.PART, growth_part.PART) for entry in journal.of_part(part, program)]
    return [f"{n_s}x{n_t}" for n_s, n_t in sorted({(entry["n_s"], entry["n_t"]) for entry in entries})]
