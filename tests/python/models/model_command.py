"""`halcyon model` as a user sees it."""

import os
import subprocess
import sys
from pathlib import Path

from halcyon import cli


def model(*arguments: str, directory: Path | None = None) -> str:
    """Output on a terminal of 120 columns without colours, and the exit code when it is not 0."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = str(Path(cli.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", "model", *arguments],
        cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([*lines, *([f"[exit {done.returncode}]"] if done.returncode else [])])


def swf(*jobs: tuple[int, int, int, int, int]) -> str:
    """A trace in the Standard Workload Format: jobs by number, submission, wait, run time and cores."""
    lines = [f"{n} {submit} {wait} {run} {cores} " + " ".join(["-1"] * 13) for n, submit, wait, run, cores in jobs]
    return "; MaxProcs: 64\n" + "\n".join(lines) + "\n"
