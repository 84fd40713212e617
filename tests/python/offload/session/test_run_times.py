"""The times in a run's records add up: what is opening, what is closing, what the server did."""

import csv
import json

import pytest
from running import Case

ROUNDING_S = 1e-6
"""Of seconds that are written as decimal numbers, and of two clocks that tick alike."""


def test_the_times_of_a_run_add_up(openmpi_case: Case) -> None:
    openmpi_case.configure()
    assert openmpi_case.run("iterations=10", "pause_ms=20").status == 0
    run = json.loads((openmpi_case.output / "run.json").read_text())
    with (openmpi_case.output / "phases-n0000.csv").open() as file:
        phases = [row for row in csv.DictReader(file) if row["rank"] == "0"]
    assert len(phases) == 10
    assert min(run["open_s"], run["close_s"]) > 0
    visible_s = sum(int(row["visible_ns"]) for row in phases) * 1e-9
    between_s = sum(int(row["compute_ns"]) for row in phases) * 1e-9
    assert run["run_s"] == pytest.approx((run["ended_ns"] - run["started_ns"]) * 1e-9)
    # What is neither open nor close is computing or the calls' own time. The records of phases know a part of these:
    # not the time between two calls of a phase, nor what a call does after its phase has ended.
    compute_s = run["compute_s"]
    assert compute_s >= 10 * 0.020 - ROUNDING_S, "the scenario pauses between iterations"
    assert visible_s <= run["run_s"] - run["open_s"] - run["close_s"] - compute_s + ROUNDING_S
    # The first phase's computing begins when rank 0 has joined its server, which is before open returns.
    assert between_s - run["open_s"] <= compute_s + ROUNDING_S
    assert between_s >= 10 * 0.020 - ROUNDING_S


def test_a_wait_after_the_last_iteration_is_part_of_closing(openmpi_case: Case) -> None:
    openmpi_case.configure(nz="512", size="256 MiB", attributes=", compression: {type: gzip, level: 9}")
    assert openmpi_case.run("iterations=2", "final_wait=1").status == 0
    run = json.loads((openmpi_case.output / "run.json").read_text())
    with (openmpi_case.output / "phases-n0000.csv").open() as file:
        in_phases_s = sum(int(row["visible_ns"]) for row in csv.DictReader(file) if row["rank"] == "0") * 1e-9
    # No phase knows of the wait: were it no part of closing, it would be missing here.
    parts_s = run["open_s"] + in_phases_s + run["close_s"] + run["compute_s"]
    assert parts_s == pytest.approx(run["run_s"], abs=ROUNDING_S)


def test_a_server_is_not_idle_while_it_stores(openmpi_case: Case) -> None:
    openmpi_case.configure(nz="512", size="256 MiB", attributes=", compression: {type: gzip, level: 9}")
    assert openmpi_case.run("iterations=12").status == 0
    run = json.loads((openmpi_case.output / "run.json").read_text())
    counts = openmpi_case.counts()
    assert counts["busy_ns"] > 0
    # One thread: it cannot have been busy and idle at once.
    assert counts["busy_ns"] + counts["idle_ns"] <= run["ended_ns"] - run["started_ns"]
