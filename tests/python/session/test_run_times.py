"""The times in a run's records add up: what is opening, what is closing, what the server did."""

import csv
import json

import pytest
from running import Case


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
    assert between_s >= 0.18, "the scenario pauses between iterations"
    # What the records of phases leave out: gaps inside a phase, and calls that belong to none.
    assert run["open_s"] + run["close_s"] + run["compute_s"] + visible_s == pytest.approx(run["run_s"], abs=0.02)
    assert run["compute_s"] == pytest.approx(between_s, abs=0.05)
    assert run["run_s"] == pytest.approx((run["ended_ns"] - run["started_ns"]) * 1e-9)


def test_a_server_is_not_idle_while_it_stores(openmpi_case: Case) -> None:
    openmpi_case.configure(nz="512", size="256 MiB", attributes=", compression: {type: gzip, level: 9}")
    assert openmpi_case.run("iterations=12").status == 0
    run = json.loads((openmpi_case.output / "run.json").read_text())
    counts = openmpi_case.counts()
    assert counts["busy_ns"] > 0
    # One thread: it cannot have been busy and idle at once.
    assert counts["busy_ns"] + counts["idle_ns"] <= (run["ended_ns"] - run["started_ns"]) * 1.05
