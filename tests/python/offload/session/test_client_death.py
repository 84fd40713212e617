"""Clients that die: what they handed over is stored, complete iterations are whole, and the launcher is not delayed."""

import os
import random
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import repeat
from pathlib import Path

import h5py
import pytest
from running import Case, check_complete, finish, is_gone, living_servers_of, processes_of, stopped_server, wait_for

from halcyon.offload.diff import diff


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("how", ["kill", "abort"])
def test_a_client_that_dies_leaves_complete_iterations_whole(case: Case, rank: int, how: str) -> None:
    case.configure()
    outcome = case.run(
        "iterations=30", "pause_ms=5", "together=1", f"die_rank={rank}", "die_at=7", f"die={how}", limit_s=30
    )
    assert outcome.status != 0, "the job must notice"
    wait_for(lambda: (case.output / "counts-n0000.json").exists(), what="counts")
    wait_for(lambda: case.counts()["finished"], what="the server drains")
    wait_for(lambda: is_gone(case.server_process()), what="the server exits")
    check_complete(case, 7)
    # What the dead one had handed over of its last iteration is stored, too.
    assert ("theta", 7, rank) in case.blocks()
    with h5py.File(case.output / "tiny.n0000.i00000007.h5") as f:
        assert int(f.attrs["incomplete"]) == 1


def test_a_client_that_exits_without_close_counts_as_dead(openmpi_case: Case) -> None:
    openmpi_case.configure()
    openmpi_case.run("iterations=30", "pause_ms=5", "together=1", "die_rank=1", "die_at=3", "die=exit", limit_s=30)
    wait_for(lambda: openmpi_case.counts()["finished"], what="the server drains")
    assert openmpi_case.counts()["dead_clients"] >= 1
    check_complete(openmpi_case, 3)


@pytest.mark.parametrize("moment", range(20))
def test_a_client_killed_at_any_moment_leaves_complete_iterations_equal(
    openmpi_case: Case, inline_run: Path, moment: int
) -> None:
    """Twenty moments over the life of a run whose iterations overlap with their storing; either rank, in turn."""
    openmpi_case.configure(nz="32")
    run = openmpi_case.start("iterations=25", "pause_ms=5", "together=1", openmpi_case.gates(25))
    stored = openmpi_case.output
    wait_for(lambda: len(list(stored.glob("tiny.n0000.*.h5"))) > moment, what=f"{moment} files")
    victim = processes_of(run)[moment % 2]
    time.sleep(random.Random(moment).uniform(0, 0.005))  # anywhere within an iteration
    os.kill(victim, signal.SIGKILL)
    finish(run, 30)
    wait_for(lambda: openmpi_case.counts()["finished"], what="the server drains")
    wait_for(lambda: is_gone(openmpi_case.server_process()), what="the server exits")
    assert not list(stored.glob("*.tmp")), "half a file was left"
    complete = 0
    for path in sorted(stored.glob("tiny.n0000.i*.h5")):
        with h5py.File(path) as file:
            if int(file.attrs["incomplete"]) == 0:
                complete = int(path.name.split(".i")[1][:8]) + 1
    assert complete >= moment
    check_complete(openmpi_case, complete)
    assert diff(stored, inline_run, range(complete)) == []


def test_a_client_killed_while_it_stores_a_block_itself_leaves_no_half_file(openmpi_case: Case) -> None:
    openmpi_case.ranks = 1
    openmpi_case.configure(nz="16384", size="20 MiB", attributes=", when-full: inline, compression: gzip")
    run = openmpi_case.start("iterations=20")
    wait_for((openmpi_case.output / "counts-n0000.json").exists, what="the server runs")
    server = openmpi_case.server_process()
    os.kill(server, signal.SIGSTOP)
    try:
        wait_for(lambda: list(openmpi_case.output.glob("tiny.c*.tmp")), what="the rank stores a block itself")
        os.kill(processes_of(run)[0], signal.SIGKILL)
        finish(run, 30)
        assert list(openmpi_case.output.glob("tiny.c*.tmp")), "the file was whole before: the test shows nothing"
    finally:
        os.kill(server, signal.SIGCONT)
    wait_for(lambda: is_gone(server), what="the server exits")
    assert not list(openmpi_case.output.glob("*.tmp"))


@pytest.mark.parametrize("how", ["kill", "abort"])
def test_the_launcher_does_not_wait_for_the_server(case: Case, how: str) -> None:
    """The job's launcher ends although the server stands still and so cannot have ended."""
    case.configure()
    run = case.start("iterations=80", "together=1", "die_rank=1", "die_at=60", f"die={how}", case.gates(4))
    case.wait_at_gate(4)
    with stopped_server(case) as pid:
        case.open_gate(4)
        assert finish(run, 30).status != 0
        assert not is_gone(pid)
    wait_for(lambda: case.counts()["finished"], what="the server drains")
    wait_for(lambda: is_gone(pid), what="the server exits")
    check_complete(case, 60)


SERIES = 6
"""Of runs beside each other: a launcher that ends a job stands still for seconds."""


@pytest.mark.parametrize("rank", [0, 1])
def test_a_client_that_dies_anywhere_in_open_leaves_no_server(openmpi_case: Case, rank: int) -> None:
    series = [replace(openmpi_case, directory=openmpi_case.directory / str(first)) for first in range(1, SERIES + 1)]
    with ThreadPoolExecutor(SERIES) as beside:
        survived = list(beside.map(die_in_open, series, range(1, SERIES + 1), repeat(rank)))
    assert min(survived) > 10, "open has that many collective calls at least"
    for case in series:
        wait_for(lambda case=case: not living_servers_of(case), 30, "the servers exit")


def die_in_open(case: Case, first: int, rank: int) -> int:
    """One run after the other, each on what the one before has left: the rank dies in the `first` collective call of
    open, in the SERIES-th after that, and so on until open does not have so many. The call in which it did not die."""
    case.directory.mkdir()
    case.configure(store=", existing: replace")
    for call in range(first, 100, SERIES):
        outcome = case.run("iterations=1", f"die_rank={rank}", f"die_in_open={call}", limit_s=60)
        if outcome.status == 0:
            return call
        assert "opened" not in outcome.text
    raise AssertionError(outcome.text)
