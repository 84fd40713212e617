"""Calls that come too late: after MPI_Finalize nothing aborts, and nothing that was written is lost."""

import h5py
import pytest
from running import Case, check_complete, finish, living_servers_of, stop_server, wait_for


@pytest.mark.parametrize("top", ["", "inline: true", "close: detach"])
def test_close_after_finalize_is_an_error_and_what_was_written_is_stored(case: Case, top: str) -> None:
    case.configure(top=top)
    outcome = case.run("iterations=3", "finalize_first=1")
    assert len(outcome.ranks) == case.ranks, outcome.text
    for rank in outcome.ranks.values():
        assert not rank["closed"]
        assert rank["error"].startswith("halcyon_close: MPI_Finalize was called before"), rank["error"]
        assert ("`halcyon view DIR` does" in rank["error"]) == (top == "inline: true"), rank["error"]
    wait_for(lambda: not living_servers_of(case), what="the server ends by itself")
    check_complete(case, 4)
    assert view_length(case) == (None if top == "inline: true" else 4)


def view_length(case: Case) -> int | None:
    """Iterations in the view; None: there is none."""
    view = case.output / "tiny.h5"
    if not view.exists():
        return None
    with h5py.File(view) as f:
        return int(f["theta"].shape[0])


def test_close_after_finalize_without_the_last_server_names_who_makes_the_view(openmpi_case: Case) -> None:
    openmpi_case.configure(server="max-restarts: 0")
    run = openmpi_case.start("iterations=5", "finalize_first=1", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(3)
    for rank in finish(run).ranks.values():
        assert "no server makes the view of it: `halcyon view DIR` does" in rank["error"]
    check_complete(openmpi_case, 6)


def test_close_after_finalize_of_several_servers_names_who_completes_the_view(openmpi_case: Case) -> None:
    core = pytest.importorskip("halcyon._core", reason="the compiled modules are not built")
    openmpi_case.configure(resources="  servers-per-node: 2")
    outcome = openmpi_case.run("iterations=3", "finalize_first=1")
    for rank in outcome.ranks.values():
        assert "if the view lacks what other servers stored last, `halcyon view DIR` completes it" in rank["error"]
    wait_for(lambda: not living_servers_of(openmpi_case), what="the servers end by themselves")
    check_complete(openmpi_case, 4)
    # Of the iterations that one of two servers has not stored when the other looks there is nothing to show yet.
    assert core.rebuild_view(str(openmpi_case.output)).iterations == 4
    assert view_length(openmpi_case) == 4
