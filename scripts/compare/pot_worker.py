"""POT in a process of its own, whose number of threads is set before numpy is loaded.

Reads a request a line, {"folder", "call", "lambda", "eta", "limit", "plan"}, and answers each with a line.
"""

import gc
import json
import os
import sys
from pathlib import Path

import numpy as np

from compare import pot_calls, time_limit
from compare.problems import Problem


def main():
    threads = int(os.environ["OMP_NUM_THREADS"]) if "OMP_NUM_THREADS" in os.environ else None
    # POT prints; the answers must not be mixed with that.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    loaded, problem, before = None, None, 0
    for line in sys.stdin:
        request = json.loads(line)
        if request["folder"] != loaded:
            problem = None
            gc.collect()
            before = memory("VmRSS")
            loaded, problem = request["folder"], load(Path(request["folder"]))
        forget_peak()
        plan, failure, seconds = time_limit.run(
            lambda: pot_calls.solve(request["call"], problem, request["lambda"], request["eta"], threads),
            request["limit"])
        # Graphs count each time, as they do in our program.
        problem._laplacians = None
        peak = memory("VmHWM") - before
        if failure is None and not np.all(np.isfinite(plan)):
            failure = "NaN"
        if failure is None and request["plan"]:
            np.save(request["plan"], plan)
        del plan
        print(json.dumps({"seconds": seconds, "failure": failure, "peak_bytes": max(peak, 0)}), file=answers, flush=True)


def load(folder):
    source, labels, target = (np.load(folder / f"{name}.npy") for name in ["source", "labels", "target"])
    return Problem("", source, labels, target, [], [])


def memory(name):
    """Of this process, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    return 0


def forget_peak():
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main()
