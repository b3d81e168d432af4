"""A Python environment of pinned versions, made when a script starts without it."""

import importlib.metadata
import platform
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

PINNED = {"POT": "0.9.7", "numpy": "2.4.6", "scipy": "1.17.1", "scikit-learn": "1.9.1"}


def is_installed():
    try:
        return all(importlib.metadata.version(name) == version for name, version in PINNED.items())
    except importlib.metadata.PackageNotFoundError:
        return False


def versions():
    return ", ".join(f"{name} {version}" for name, version in {"Python": platform.python_version(), **PINNED}.items())


def run_inside(script, folder=None):
    """Runs the script that was called in an environment in `folder`, which stays, or in a temporary one. Returns its
    exit code."""
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="pot-") as temporary:
            return _run_inside(script, Path(temporary))
    return _run_inside(script, Path(folder))


def _run_inside(script, folder):
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    print(f"installing POT {PINNED['POT']} into {folder}", file=sys.stderr)
    packages = [f"{name}=={version}" for name, version in PINNED.items()]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    return subprocess.run([python, script, *sys.argv[1:]]).returncode
