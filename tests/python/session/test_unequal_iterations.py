"""Ranks that end fewer iterations than others owe blocks, whichever server finds out."""

import pytest
from running import Case, check_complete, finish, stop_server, wait_for
from segment import Word, words


@pytest.mark.parametrize("killed", [False, True])
def test_blocks_that_a_rank_which_closed_owes_are_missing(openmpi_case: Case, killed: bool) -> None:
    """Rank 0 ends one iteration more. A server that takes over has seen no block of rank 1."""
    case = openmpi_case
    case.configure()
    run = case.start("iterations=3", "final_wait=1", "extra_rank=0", case.gates(4))
    case.wait_at_gate(3)
    server = case.server_process()
    wait_for(lambda: words(server, Word.CLOSED, 2) == [0, 1], what="rank 1 has closed")
    if killed:
        stop_server(server)
        log = case.output / "server-n0000.log"
        wait_for(lambda: "took over" in log.read_text(), what="the next server")
    case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 3)
    counts = case.counts()
    assert counts["server_restarts"] == int(killed)
    assert (counts["iterations"], counts["missing_blocks"], counts["incomplete_iterations"]) == (4, 1, 1)
    assert {(i, rank) for _, i, rank in case.blocks() if i == 3} == {(3, 0)}
