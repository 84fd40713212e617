#!/usr/bin/env python3
"""How long `halcyon testbed up` and `down` take, as whole commands, with and without Slurm."""

import os
import subprocess
import sys
import time
from pathlib import Path

from rounds import Rounds, unmet

from halcyon.testbed.bed import DIRECTORY_VARIABLE
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

HOSTS = ["--compute", "4", "--storage", "2", "--mounts", "16"]
KINDS: dict[str, list[str]] = {"": [], "_slurm": ["--slurm"]}


def seconds(*words: str) -> float:
    environment = os.environ | {DIRECTORY_VARIABLE: str(Path.cwd() / "bed")}
    begin = time.monotonic()
    subprocess.run([sys.executable, "-m", "halcyon", "testbed", *words], env=environment, stdout=2, check=True)
    return time.monotonic() - begin


def main() -> None:
    if reason := unavailable(Plan(slurm=True)):
        for name in ("up_s", "down_s", "up_slurm_s", "down_slurm_s"):
            unmet("testbed", name, reason)
        return
    for one in Rounds("testbed"):
        for suffix, options in KINDS.items():
            try:
                one.value(f"up{suffix}_s", seconds("up", *HOSTS, *options), "s")
            finally:
                one.value(f"down{suffix}_s", seconds("down"), "s")


if __name__ == "__main__":
    main()
