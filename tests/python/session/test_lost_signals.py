"""Signals of a run whose servers die: each is dealt with or counted as lost."""

from running import BUILDS, Case, check_complete, finish, stop_server, wait_for
from segment import Word, words

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
