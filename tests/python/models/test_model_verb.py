"""Transcripts of `halcyon model`."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halcyon import cli


def model(*arguments: str, directory: Path | None = None) -> str:
    """What a terminal of 120 columns without colours would show, and the exit code when it is not 0."""
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1"}
    environment["PYTHONPATH"] = str(Path(cli.__file__).resolve().parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "halcyon", "model", *arguments],
        cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        timeout=60,
    )  # fmt: skip
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join([*lines, *([f"[exit {done.returncode}]"] if done.returncode else [])])


def test_a_table_of_jobs() -> None:
    assert model("stripes", "--total", "480", "--request", "160", "--jobs", "3") == JOBS


JOBS = """
480 targets, 160 stripes per job
jobs   targets in use   stripes    load
───────────────────────────────────────
   1          160.000       160   1.000
   2          266.667       320   1.200
   3          337.778       480   1.421"""


def test_logs_of_ranks() -> None:
    told = model("stripes", "--total", "480", "--logs", "--ranks", "512,1024", "--ranks-per-node", "16")
    assert told == LOGS


LOGS = """
480 targets, a file of 2 stripes per rank
ranks   targets in use   stripes    load
────────────────────────────────────────
  512          423.401     1,024   2.419
1,024          473.326     2,048   4.327

load 3 is reached with 688 ranks, on whole nodes of 16"""


def test_what_to_request_and_to_buy() -> None:
    assert model("stripes", "--total", "480", "--request", "160", "--jobs", "4", "--recommend") == PURCHASE


PURCHASE = """4 jobs with 160 stripes each on 480 targets: load 1.662, 385.185 targets in use
request for load 1.5: 127 stripes per job (load 1.496)
targets for load 1.5: 601 (121 more)"""


def test_a_request_by_measurements(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("striping_factor,bytes_per_s\n160,4541366000\n64,3910507000\n32,3000000000\n")
    assert model(
        "stripes", "--total", "480", "--jobs", "4", "--recommend", "--measured", "m.csv", directory=tmp_path
    ).endswith(
        "request 64 stripes instead of 160: 14 % less bandwidth for a job, 46 % fewer targets in use, load 1.224 "
        "instead of 1.662"
    )


def test_the_same_for_machines() -> None:
    told = json.loads(model("stripes", "--total", "480", "--request", "160", "--jobs", "2", "--json"))
    assert told["rows"][1] == {"jobs": 2, "request": 160, "requested": 320.0, "in_use": 800 / 3, "load": 1.2}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--total 480", "--request R is missing: the stripes of each job's file"),
        ("--total 4 --request 5", "stripes: 5; expected 0 up to the number of targets"),
        ("--total 4 --request 2 --load 2", "--load goes with --recommend or --logs"),
        ("--total 4 --request 2 --measured m.csv", "--measured goes with --recommend"),
        ("--total 4 --logs --recommend", "--logs and --recommend answer different questions"),
        ("--total 4 --request 2 --jobs 1001", "--jobs 1001; expected 1000 or fewer"),
        ("--total 4 --request 2 --recommend --load 1", "load: 1; expected a load above 1"),
        ("--total 4 --logs --load 0.5", "expected a load of 1 or more"),
        ("--total 4 --logs --ranks 1,x", "'x' is no whole number"),
    ],
)
def test_questions_without_sense_are_refused(arguments: str, message: str) -> None:
    told = model("stripes", *arguments.split())
    assert message in told
    assert told.endswith("[exit 2]")
    assert "Traceback" not in told
