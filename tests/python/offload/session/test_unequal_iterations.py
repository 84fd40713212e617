"""Ranks that end fewer iterations than others owe blocks, whichever server finds out."""

import h5py
import pytest
from running import Case, Outcome, check_complete, finish, stop_server, wait_for
from segment import Word, stored_through, words
from stored import check_view, total

NZ = 4


@pytest.mark.parametrize("kills", [(), (3,), (3, 4)])
def test_blocks_that_a_rank_which_closed_owes_are_missing(openmpi_case: Case, kills: tuple[int, ...]) -> None:
    """Rank 0 ends iterations 3 and 4 alone. A server that takes over has seen no block of rank 1."""
    case = openmpi_case
    case.configure()
    run = case.start("iterations=3", "final_wait=1", "extra_rank=0", case.gates(4, 5))
    log = case.output / "server-n0000.log"
    for iteration in (3, 4):
        case.wait_at_gate(iteration)
        server = case.server_process()
        wait_for(lambda server=server: words(server, Word.CLOSED, 2) == [0, 1], what="rank 1 has closed")
        if iteration in kills:
            stop_server(server)
            taken = kills.index(iteration) + 1
            wait_for(lambda n=taken: log.read_text().count("took over") == n, what="the next server")
        case.open_gate(iteration + 1)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    counts = case.counts()
    assert counts["server_restarts"] == len(kills)
    assert (counts["iterations"], counts["missing_blocks"], counts["incomplete_iterations"]) == (5, 2, 2)
    assert {(i, rank) for _, i, rank in case.blocks() if i >= 3} == {(3, 0), (4, 0)}


def shown_incomplete(case: Case) -> list[int]:
    with h5py.File(case.output / "tiny.h5") as view:
        return [int(iteration) for iteration in view.attrs.get("incomplete_iterations", [])]


def messages(case: Case) -> list[str]:
    return [text for path in case.output.glob("counts-*.json") for text in case.counts(path.stem[7:])["messages"]]


def check_marked(case: Case, outcome: Outcome, missing: int = 0) -> None:
    """Rank 0 ended iterations 3 and 4 alone: each is counted once, and the view shows them as incomplete."""
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    blocks = case.blocks()
    assert {(i, rank) for _, i, rank in blocks if i >= 3} == {(3, 0), (4, 0)}
    check_view(case, blocks, 5, NZ)
    assert shown_incomplete(case) == [3, 4]
    assert (total(case, "incomplete_iterations"), total(case, "missing_blocks")) == (2, missing)


def test_iterations_that_a_rank_without_a_server_did_not_end_are_counted(openmpi_case: Case) -> None:
    openmpi_case.configure(top="inline: true")
    check_marked(openmpi_case, openmpi_case.run("iterations=3", "extra_rank=0"))
    assert any("rank 1 closed before iteration 3" in m for m in messages(openmpi_case))


@pytest.mark.parametrize("stored", range(1, 5))
def test_iterations_not_ended_are_counted_when_the_last_server_ends(openmpi_case: Case, stored: int) -> None:
    """After so many iterations; it has marked iteration 3 where it stored that."""
    case = openmpi_case
    case.configure(server="max-restarts: 0")
    gate = stored if stored < 3 else stored + 1
    run = case.start("iterations=3", "final_wait=1", "extra_rank=0", case.gates(gate))
    case.wait_at_gate(stored)
    server = case.server_process()
    # The last file is there a moment before its blocks are counted.
    wait_for(lambda: stored_through(server) == stored - 1, what="what is stored is counted")
    if stored >= 3:
        wait_for(lambda: words(server, Word.CLOSED, 2) == [0, 1], what="rank 1 has closed")
    stop_server(server)
    case.open_gate(gate)
    check_marked(case, finish(run), missing=1 if stored == 4 else 0)
    assert any(f"rank 1 closed before iteration {max(stored, 3)}" in m for m in messages(case))


@pytest.mark.parametrize("lost", [(0,), (1,), (0, 1)])
def test_iterations_not_ended_are_counted_on_each_node(openmpi_case: Case, lost: tuple[int, ...]) -> None:
    """Two servers, each of one rank; some are lost after iteration 1."""
    case = openmpi_case
    case.configure(resources="  servers-per-node: 2", server="max-restarts: 0")
    run = case.start("iterations=3", "extra_rank=0", case.gates(2))
    for node in (0, 1):
        case.wait_at_gate(2, f"n{node:04d}")
    for node in lost:
        stop_server(case.server_process(f"n{node:04d}"))
    case.open_gate(2)
    check_marked(case, finish(run))
    assert any("closed before iteration 3" in m for m in messages(case))


def test_a_node_that_ended_fewer_iterations_is_counted_by_its_servers(openmpi_case: Case) -> None:
    openmpi_case.configure(resources="  servers-per-node: 2")
    check_marked(openmpi_case, openmpi_case.run("iterations=3", "extra_rank=0"))
    assert any("n0001 published nothing after iteration 2" in m for m in messages(openmpi_case))
