"""Signals and phases of a run whose servers die: each is dealt with, written down, or counted as lost."""

import pytest
from appointing import watches
from running import BUILDS, Case, check_complete, finish, processes_of, stop_server, stopped_server, wait_for
from segment import Word, words
from stored import total

GATED = """\
events:
  all: {{actions: [hold], scope: node}}
  each: {{actions: [hold], scope: client}}
actions:
  hold: {{type: module, module: {module}, function: gated_action, options: {{until: {until}}}}}"""


def test_signals_that_wait_for_another_rank_are_not_lost_with_a_server(openmpi_case: Case) -> None:
    """Those whose action has begun are, also when a predecessor left some that waited."""
    case, go = openmpi_case, openmpi_case.directory / "go"
    module = BUILDS["openmpi"] / "tests/libgated_action.so"
    case.configure(events=GATED.format(module=module, until=go), server="threads: 2")
    go.touch()
    run = case.start("iterations=12", "ahead=4", "signal=all", case.gates(4, 8, 12))
    wait_for(lambda: (case.output / "counts-n0000.json").exists(), what="the server is there")
    first = case.server_process()
    wait_for(lambda: words(first, Word.SIGNALS_TAKEN, 2) == [4, 0], what="the signals of rank 0 wait")
    stop_server(first)
    case.open_gate(4)
    ran = case.output / "gated.txt"
    wait_for(lambda: ran.exists() and len(ran.read_text().splitlines()) == 8, what="the events of 8 iterations ran")
    second = case.server_process()
    assert second != first
    wait_for(lambda: case.counts()["iterations"] == 8, what="8 iterations are stored")
    assert case.counts()["lost_signals"] == 0
    go.unlink()
    case.open_gate(8)
    wait_for(lambda: words(second, Word.SIGNALS_TAKEN, 2) == [12, 12], what="the server has taken all signals")
    stop_server(second)
    case.open_gate(12)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert len(ran.read_text().splitlines()) == 8
    assert case.counts()["lost_signals"] == 2 * 4
    check_complete(case, 12)


def phases(case: Case) -> list[tuple[int, int]]:
    """(iteration, rank) of each line of phases, whoever wrote it."""
    lines = [line for path in case.output.glob("phases-*.csv") for line in path.read_text().splitlines()[1:]]
    return sorted((int(iteration), int(rank)) for iteration, rank, *_ in (line.split(",") for line in lines))


@pytest.mark.parametrize("lines_lost", [0, 3])
def test_signals_and_phases_do_not_vanish_with_the_last_server(openmpi_case: Case, lines_lost: int) -> None:
    """Iterations 0 and 1 are taken by the server, 2 and 3 lie in the rings when it is killed, the others come after."""
    case = openmpi_case
    module = BUILDS["openmpi"] / "tests/libgated_action.so"
    events = GATED.format(module=module, until=case.directory / "never")
    case.configure(events=events, server="threads: 2, max-restarts: 0")
    run = case.start("iterations=8", "signal=each", case.gates(2, 4))
    case.wait_at_gate(2)
    records = case.output / "phases-n0000.csv"
    wait_for(lambda: len(records.read_text().splitlines()) == 1 + 4, what="the phases are written")
    with stopped_server(case) as server:
        assert words(server, Word.SIGNALS_TAKEN, 2) == [2, 2]
        case.open_gate(2)
        wait_for(lambda: words(server, Word.ENDED_THROUGH, 2) == [3, 3], what="the ranks have gone on")
        # As if the server had not come to write the last lines.
        records.write_text("".join(records.read_text().splitlines(keepends=True)[: 1 + 4 - lines_lost]))
        stop_server(server)
        # One of them finds out for all, but each knows only when its own watch has come to that.
        wait_for(lambda: not any(map(watches, processes_of(run))), what="the clients know that there is no server")
    case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(case, 8)
    assert case.counts()["lost_signals"] == 4
    assert total(case, "lost_signals") == 2 * 4
    assert total(case, "lost_records") == lines_lost
    found = phases(case)
    assert len(found) == 2 * 8 - lines_lost
    assert set(found) >= {(i, rank) for i in range(2, 8) for rank in range(2)}
