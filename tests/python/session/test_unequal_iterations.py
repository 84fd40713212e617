"""Ranks that end fewer iterations than others owe blocks, whichever server finds out."""

import pytest
from running import Case, check_complete, finish, stop_server, wait_for
from segment import Word, words
from stored import total


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


def test_iterations_that_a_rank_without_a_server_did_not_end_are_counted(openmpi_case: Case) -> None:
    """Nobody but the maker of the view can know of them."""
    openmpi_case.configure(top="inline: true")
    outcome = openmpi_case.run("iterations=3", "extra_rank=0")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 3)
    assert total(openmpi_case, "incomplete_iterations") == 2
    assert any("c00001 published nothing after iteration 2" in m for m in openmpi_case.counts("c00000")["messages"])
