"""What servers knew or did when they died is known to whoever comes after them: another server, or the clients."""

import os
import signal
import subprocess
from pathlib import Path

import pytest
from appointing import SURVIVORS, watcher_of
from running import BUILDS, Case, check_complete, finish, is_gone, processes_of, stop_server, wait_for
from segment import Word, is_abandoned, words
from stored import check_nothing_is_half_done, check_values, recorded_missing, total

AHEAD = 8
"""Iterations that rank 0 is ahead of rank 1, of which the buffer holds two."""
ITERATIONS = AHEAD + 4


def start_ahead(case: Case, when_full: str, max_restarts: int) -> "subprocess.Popen[str]":
    """A run in which rank 0 stands at a gate, all that it could hand over accepted, and rank 1 has not begun."""
    case.configure(
        nz="32",
        size="440 KiB",
        buffer=f", when-full: {when_full}",
        server=f"max-restarts: {max_restarts}",
    )
    run = case.start(f"iterations={ITERATIONS}", f"ahead={AHEAD}", "final_wait=1", case.gates(AHEAD))
    wait_for(lambda: (case.output / "counts-n0000.json").exists(), what="the server is there")
    server = case.server_process()
    wait_for(lambda: words(server, Word.ENDED_THROUGH, 2)[0] == AHEAD - 1, what="rank 0 is ahead")
    return run


@pytest.mark.parametrize("max_restarts", [0, 3])
def test_early_parts_are_published_whoever_comes_after(openmpi_case: Case, max_restarts: int) -> None:
    run = start_ahead(openmpi_case, "block", max_restarts)
    assert list(openmpi_case.output.glob(".tiny.n0000.*.p*.h5")), "there are no early parts: the buffer is too large"
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(AHEAD)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, ITERATIONS)
    check_nothing_is_half_done(openmpi_case)
    assert not recorded_missing(openmpi_case)
    assert total(openmpi_case, "blocks") == ITERATIONS * openmpi_case.ranks


def test_blocks_in_early_parts_of_a_client_that_died_are_not_missing(openmpi_case: Case) -> None:
    run = start_ahead(openmpi_case, "block", 3)
    server = openmpi_case.server_process()
    for process in processes_of(run):
        stop_server(process)
    finish(run)
    wait_for(lambda: openmpi_case.counts()["finished"], what=f"server {server} drains")
    stored = check_values(openmpi_case)
    assert {i for _, i, rank in stored if rank == 0} == set(range(AHEAD))
    assert not set(stored) & recorded_missing(openmpi_case)


@pytest.mark.parametrize("dies", ["before the other noticed", "after the other went on"])
def test_blocks_of_a_client_that_died_are_stored_by_the_others(openmpi_case: Case, dies: str) -> None:
    """They were handed over, and the last server ended before it stored them."""
    openmpi_case.launcher = SURVIVORS["openmpi"]
    openmpi_case.configure(nz="32", server="max-restarts: 0")
    run = openmpi_case.start("iterations=8", "vanish=1", openmpi_case.gates(2, 5, 6))
    openmpi_case.wait_at_gate(2)
    server = openmpi_case.server_process()
    os.kill(server, signal.SIGSTOP)
    openmpi_case.open_gate(2)
    wait_for(lambda: words(server, Word.ENDED_THROUGH, 2) == [4, 4], what="both ranks are at the second gate")
    dead, survivor = processes_of(run)
    os.kill(dead, signal.SIGSTOP)
    if dies == "before the other noticed":
        os.kill(dead, signal.SIGKILL)
    os.kill(server, signal.SIGKILL)
    wait_for(lambda: is_abandoned(survivor), what="no server comes any more")
    openmpi_case.open_gate(5)
    own = openmpi_case.output / "tiny.c00001.i00000005.h5"
    wait_for(own.exists, what="the other rank stores by itself")
    if dies == "after the other went on":
        os.kill(dead, signal.SIGKILL)
        wait_for(lambda: is_gone(dead), what="it has ended")
    openmpi_case.open_gate(6)
    finish(run)
    stored = set(check_values(openmpi_case))
    assert stored == {("theta", i, 0) for i in range(5)} | {("theta", i, 1) for i in range(8)}
    assert total(openmpi_case, "blocks") == len(stored)
    assert not recorded_missing(openmpi_case)


@pytest.mark.parametrize("max_restarts", [0, 3])
def test_dropped_blocks_are_remembered_whoever_comes_after(openmpi_case: Case, max_restarts: int) -> None:
    run = start_ahead(openmpi_case, "skip", max_restarts)
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(AHEAD)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    stored, missing = set(check_values(openmpi_case)), recorded_missing(openmpi_case)
    assert missing, "nothing was dropped: the buffer is too large"
    assert not stored & missing
    assert stored | missing == {("theta", i, rank) for i in range(ITERATIONS) for rank in range(2)}
    assert len(missing) == sum(rank["skipped"] for rank in outcome.ranks.values())


@pytest.mark.parametrize(("policy", "told"), [("skip", "skipped"), ("inline", "inlined"), ("spill", "spilled")])
def test_what_policies_do_before_a_rank_knows_that_there_is_no_server_counts(
    openmpi_case: Case, policy: str, told: str
) -> None:
    """Rank 0 has settled what the server left, and rank 1 goes on as if there were one."""
    openmpi_case.configure(
        nz="32",
        size="440 KiB",
        buffer=f", when-full: {policy}, spill-directory: {openmpi_case.directory}",
        server="max-restarts: 0",
    )
    run = openmpi_case.start("iterations=20", "pause_ms=20", openmpi_case.gates(4, 20))
    openmpi_case.wait_at_gate(4)
    late = processes_of(run)[1]
    report = openmpi_case.directory / "report"
    tracer = [BUILDS["openmpi"] / "tests/stop_at_step", "1", "hold", report, "--thread", watcher_of(late)]
    with subprocess.Popen(tracer):
        wait_for(report.exists, what="the thread that watches the server stands still")
        server = openmpi_case.server_process()
        stop_server(server)
        openmpi_case.open_gate(4)
        last = openmpi_case.output / "tiny.c00000.i00000019.h5"
        wait_for(last.exists, what="rank 0 has stored all by itself")
        wait_for(lambda: words(late, Word.ENDED_THROUGH, 2)[1] == 19, what="rank 1 is at its last gate")
        Path(f"{report}.go").touch()
        openmpi_case.open_gate(20)
        outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert outcome.ranks[1][told] > 0
    assert total(openmpi_case, f"{told}_blocks") == sum(rank[told] for rank in outcome.ranks.values())
    missing = recorded_missing(openmpi_case)
    assert total(openmpi_case, "missing_blocks") == len(missing)
    assert len(set(check_values(openmpi_case)) | missing) == 20 * 2
