"""The other end of `pot_worker`."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

THREAD_VARIABLES = ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]
SCRIPTS = Path(__file__).resolve().parents[1]


def environment(threads):
    variables = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}
    if threads is not None:
        variables |= {name: str(threads) for name in THREAD_VARIABLES}
    return variables | {"PYTHONPATH": str(SCRIPTS)}


class PotSide:
    """One worker for each number of threads, None being all cores."""

    def __init__(self):
        self.workers = {}

    def solve(self, folder, call, entropy_weight, weight, threads, limit, plan_file=None):
        worker = self.workers.get(threads)
        if worker is None or worker.poll() is not None:
            worker = subprocess.Popen([sys.executable, "-m", "compare.pot_worker"], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, text=True, env=environment(threads))
            self.workers[threads] = worker
        request = {"folder": str(folder), "call": call, "lambda": entropy_weight, "eta": weight, "limit": limit,
                   "plan": None if plan_file is None else str(plan_file)}
        start = time.perf_counter()
        worker.stdin.write(json.dumps(request) + "\n")
        worker.stdin.flush()
        answer = worker.stdout.readline()
        if not answer:
            failure = f"POT's process ended with {worker.wait()}"
            return {"seconds": time.perf_counter() - start, "failure": failure, "peak_bytes": None}
        return json.loads(answer)

    def close(self):
        for worker in self.workers.values():
            worker.stdin.close()
            worker.wait()
        self.workers = {}
