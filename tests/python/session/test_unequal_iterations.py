"""Ranks that end fewer iterations than others owe blocks, whichever server finds out."""

import pytest
from running import Case, check_complete, finish, stop_server, wait_for
from segment import Word, words


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
