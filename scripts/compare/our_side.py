"""Our program on the arrays of a problem."""

import hashlib
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

LAUNCHER = Path(__file__).with_name("launch.py")


class OurSide:
    def __init__(self, program, work):
        self.program, self.work = Path(program).resolve(), work
        # Measurements of another program are no measurements of this one.
        self.identity = hashlib.sha1(self.program.read_bytes()).hexdigest()[:12]
        self._baseline = None

    def solve(self, files, method, setting, weight, threads, repeat=1, plan_file=None):
        """The report of `adapt`, and the bytes that the process took beyond what one on two samples takes."""
        arguments = ["adapt", "--method", method, "--repeat", str(repeat)]
        options = {"source": files["source"], "labels": files["labels"], "target": files["target"],
                   "lambda": setting["lambda"], "eta": weight, "gap": setting["gap"], "plan": plan_file}
        for name, value in options.items():
            arguments += [f"--{name}", str(value)] if value is not None else []
        report, peak = self._run(arguments, threads)
        return {**report, "peak_bytes": max(peak - self.baseline(), 0)}

    def baseline(self):
        if self._baseline is None:
            folder = self.work / "two_samples"
            folder.mkdir(exist_ok=True)
            samples, labels = folder / "samples.npy", folder / "labels.npy"
            np.save(samples, np.array([[0.0, 1.0], [1.0, 0.0]]))
            np.save(labels, np.array([0, 1]))
            arguments = ["adapt", "--method", "ot-exact", "--source", str(samples), "--labels", str(labels),
                         "--target", str(samples)]
            self._baseline = self._run(arguments, None)[1]
        return self._baseline

    def _run(self, arguments, threads):
        environment = dict(os.environ)
        environment.pop("RAYON_NUM_THREADS", None)
        if threads is not None:
            environment["RAYON_NUM_THREADS"] = str(threads)
        command = [str(self.program), *arguments]
        done = subprocess.run([sys.executable, "-S", "-P", str(LAUNCHER), *command], capture_output=True, text=True,
                              env=environment)
        answer = json.loads(done.stdout) if done.returncode == 0 else {"code": done.returncode}
        if answer["code"] != 0:
            sys.exit(f"{shlex.join(command)}\n{done.stderr}")
        return json.loads(answer["output"]), answer["peak_bytes"]
