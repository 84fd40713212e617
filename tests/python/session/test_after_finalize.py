"""Calls that come too late: after MPI_Finalize nothing aborts, and nothing that was written is lost."""

import pytest
from running import Case, check_complete, living_servers_of, wait_for


@pytest.mark.parametrize("top", ["", "inline: true", "close: detach"])
def test_close_after_finalize_is_an_error_and_what_was_written_is_stored(case: Case, top: str) -> None:
    case.configure(top=top)
    outcome = case.run("iterations=3", "finalize_first=1")
    assert len(outcome.ranks) == case.ranks, outcome.text
    for rank in outcome.ranks.values():
        assert not rank["closed"]
        assert rank["error"].startswith("halcyon_close: MPI_Finalize was called before"), rank["error"]
    wait_for(lambda: not living_servers_of(case), what="the server ends by itself")
    check_complete(case, 4)
