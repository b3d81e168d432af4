"""Starts a program and says how much memory it took at most: `python launch.py PROGRAM ARGUMENTS…`

On Linux a process inherits the peak of the one that started it. This one is small; the comparison, which holds matrices,
is not.
"""

import json
import os
import subprocess
import sys


def main():
    child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)
    output = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    json.dump({"output": output, "code": os.waitstatus_to_exitcode(status), "peak_bytes": usage.ru_maxrss * 1024},
              sys.stdout)


if __name__ == "__main__":
    main()
