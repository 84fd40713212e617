"""`close: detach`: the simulation has gone, its server still stores."""

import pytest
from running import (
    BUILDS,
    Case,
    check_complete,
    finish,
    is_gone,
    living_servers_of,
    stop_server,
    stopped_server,
    wait_for,
)
from segment import Word, words
from stored import total


def gated(case: Case) -> str:
    return (
        "events:\n  each: {actions: [hold], scope: node}\nactions:\n"
        f"  hold: {{type: module, module: {BUILDS[case.mpi] / 'tests/libgated_action.so'}, function: gated_action, "
        f"options: {{until: {case.directory / 'go'}}}}}"
    )


def test_a_detached_server_keeps_its_directory_until_it_is_done(openmpi_case: Case) -> None:
    openmpi_case.configure(top="close: detach", store=", existing: replace", events=gated(openmpi_case))
    outcome = openmpi_case.run("iterations=3", "signal=each")
    assert outcome.status == 0, outcome.text
    server = openmpi_case.server_process()
    assert not is_gone(server), "the server was done before the simulation"
    second = openmpi_case.run("iterations=2")
    assert second.status != 0
    assert "is in use by another session" in second.ranks[0]["open"]
    assert "its server has stored everything" in second.ranks[0]["open"]
    assert openmpi_case.server_process() == server
    (openmpi_case.directory / "go").touch()
    wait_for(lambda: is_gone(server), what="the server exits")
    check_complete(openmpi_case, 3)
    assert openmpi_case.counts()["finished"]
    third = openmpi_case.run("iterations=2")
    assert third.status == 0, third.text
    assert len(list(openmpi_case.output.glob("tiny.n0000.*.h5"))) == 2, "what was there was replaced"


def test_sessions_that_are_closed_leave_the_directory_at_once(case: Case) -> None:
    case.configure(store=", existing: replace", resources="  servers-per-node: 2")
    outcome = case.run("iterations=2", "sessions_before=20")
    assert outcome.status == 0, outcome.text


@pytest.mark.parametrize("max_restarts", [0, 3])
@pytest.mark.parametrize("closes_first", [True, False])
def test_what_was_handed_over_survives_a_server_that_ends_at_the_close(
    openmpi_case: Case, max_restarts: int, closes_first: bool
) -> None:
    """A rank that has closed looks after its blocks no more. Of the last one, a server that lives must have them."""
    openmpi_case.configure(top="close: detach", server=f"max-restarts: {max_restarts}")
    last = 4 if closes_first else 3
    options = ["extra_rank=0"] if closes_first else []
    run = openmpi_case.start("iterations=3", *options, openmpi_case.gates(1, last))
    openmpi_case.wait_at_gate(1)
    with stopped_server(openmpi_case) as server:
        openmpi_case.open_gate(1)
        word, reached = (Word.CLOSED, [0, 1]) if closes_first else (Word.ENDED_THROUGH, [2, 2])
        wait_for(lambda: words(server, word, 2) == reached, what="what comes before the gate is done")
        stop_server(server)
    openmpi_case.open_gate(last)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    wait_for(lambda: not living_servers_of(openmpi_case), what="the servers exit")
    check_complete(openmpi_case, 3)
    extra = 2 if closes_first else 0
    assert total(openmpi_case, "blocks") == 3 * openmpi_case.ranks + extra
    assert total(openmpi_case, "incomplete_iterations") == extra
