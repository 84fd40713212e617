"""Programs that tell the storage targets of their phases, with the real daemon: they move side by side or in turns."""

import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from overheard import Overheard
from scripted_agents import Agent, has_turn, run_until
from turn_programs import Program, RefusedError

from halcyon.errors import UsageError
from halcyon.turns import Turns

Start = Callable[..., CoordinatorProcess]
Run = Callable[..., Program]
NO_STARVATION = {"starvation": "10 min"}
"""Nobody is stopped for somebody who has waited for long."""


def states(of: CoordinatorProcess) -> dict[str, str]:
    return {one.job: one.state for one in of.top().applications}


def ask(one: Program, *targets: int) -> None:
    """A phase begins, on these targets; none: it does not know."""
    one.do("prepare", targets=targets)
    one.do("inform")


def take(of: CoordinatorProcess, one: Program, *targets: int) -> None:
    """The turn, as the coordinator sees it, too."""
    ask(one, *targets)
    one.begin("wait")
    wait_until(lambda: one.has_answered, f"{one.job} has the turn")
    one.answer()
    wait_until(lambda: states(of).get(one.job) == "moving", f"{one.job} moves")


def leave(of: CoordinatorProcess, one: Program) -> None:
    """The phase, and the coordinator hears of that."""
    one.do("release")
    one.do("complete")
    wait_until(lambda: states(of)[one.job] == "computing", f"the phase of {one.job} is over")


def waits(of: CoordinatorProcess, one: Program) -> bool:
    wait_until(lambda: states(of).get(one.job) in ("waiting", "moving"), f"{one.job} has asked")
    return states(of)[one.job] == "waiting" and one.do("check") is False


def test_programs_on_other_targets_move_at_the_same_time(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    take(of, a, 0, 7)
    take(of, b, 3, 4294967295)
    assert states(of) == {a.job: "moving", b.job: "moving"}
    for one in (a, b):
        one.do("write", file=str(scratch / one.job), mib=4)
        assert one.status["our_turn"]
        assert one.status["steps_unasked"] == one.status["steps_starving"] == one.status["bytes_unasked"] == 0


@pytest.mark.parametrize(
    ("first", "second"), [((0, 7), (3, 7)), ((0, 7), ()), ((), (3,)), ((5,), range(200))],
    ids=["one in common", "the second one does not know", "the first one does not know", "more than are told"],
)  # fmt: skip
def test_programs_that_may_share_a_target_take_turns(
    start: Start, run: Run, scratch: Path, first: tuple[int, ...], second: tuple[int, ...]
) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    take(of, a, *first)
    ask(b, *second)
    assert waits(of, b)
    a.do("release")
    b.do("wait")
    assert b.status["our_turn"]
    assert b.status["steps_unasked"] == 0


def test_a_job_uses_the_targets_of_all_its_processes(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    a, b, c = run(of, "A"), run(of, "B"), run(of, "C")
    again = run(of, "A", job_of=a)
    take(of, a, 1)
    take(of, again, 2)
    take(of, c, 3)
    ask(b, 2)
    assert waits(of, b)
    assert states(of)[c.job] == "moving"


def test_a_job_may_use_all_targets_where_one_process_does_not_know_its_own(
    start: Start, run: Run, scratch: Path
) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    again = run(of, "A", job_of=a)
    take(of, a, 1)
    take(of, again)
    ask(b, 2)
    assert waits(of, b)
    again.do("release")
    a.do("release")
    b.do("wait")
    assert b.status["our_turn"]


def test_the_targets_of_a_phase_are_not_those_of_the_phase_before(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    take(of, a, 1)
    leave(of, a)
    take(of, b, 1)
    take(of, a, 2)
    assert states(of)[b.job] == "moving"
    leave(of, a)
    ask(a, 1)
    assert waits(of, a)
    b.do("release")
    a.do("wait")
    assert a.status["steps_unasked"] == 0


def test_a_phase_on_other_targets_waits_also_where_it_follows_at_once(start: Start, run: Run, scratch: Path) -> None:
    """Its agent still has the turn of the phase before."""
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    long_pause = {"HALCYON_COORDINATE_PAUSE_MS": "600000"}
    a, b = run(of, "A", **long_pause), run(of, "B", **long_pause)
    take(of, a, 1)
    take(of, b, 2)
    a.do("release")
    a.do("complete")
    ask(a, 2)
    a.begin("wait")
    wait_until(lambda: states(of)[a.job] == "waiting", "A asks for another turn")
    assert not a.has_answered
    assert b.do("check")
    b.do("release")
    b.do("complete")
    b.do("inform")  # on any target: its agent gives its turn back first
    a.answer()
    assert a.status["steps_unasked"] == 0


def test_targets_are_told_with_the_phase_and_when_more_of_them_are_known(
    start: Start, run: Run, scratch: Path, tmp_path: Path
) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    heard = Overheard(of.folder / "between", of.socket)
    told = lambda: [message.get("targets") for _, message in heard.of_type("inform")]  # noqa: E731
    a = run(None, "A", HALCYON_COORDINATORS=f"{scratch}=unix:{heard.path}")
    a.do("prepare", targets=[9, 2, 9])
    a.do("prepare", targets=[5])  # of a level within
    a.hold()
    wait_until(lambda: told() == [[2, 9]], "the targets are told")
    a.do("complete")
    a.do("complete")
    a.do("prepare", targets=[4])
    a.do("inform")
    wait_until(lambda: told()[-1] == [2, 4, 9], "what is known now is told")
    a.do("complete")
    a.do("inform")
    wait_until(lambda: told()[-1] is None, "nothing is known of them any more")
    heard.close()


@pytest.mark.usefixtures("library")
def test_calls_of_a_program_that_has_prepared_targets_are_covered_within_its_phase_alone(
    start: Start, run: Run, scratch: Path
) -> None:
    of = start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT)
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--coordinators", str(of.config), "--"]
    a = run(of, "A", before=halcyon, HALCYON_COORDINATE_PAUSE_MS="600000")
    other = Agent(of, "other")
    a.do("prepare", targets=[1])
    a.hold()
    a.do("write", file=str(scratch / "a"), mib=8)
    assert a.status["bytes"] == 8 << 20
    other.phase = 1
    other.inform(targets=[2])
    run_until([other], has_turn(other), "the other one moves beside it")
    assert sorted(states(of).values()) == ["moving", "moving"]
    a.do("release")
    a.begin("write", file=str(scratch / "a"), mib=64)  # calls of which nobody has told the targets
    own = lambda: next(state for job, state in states(of).items() if job != other.job)  # noqa: E731
    run_until([other], lambda: own() == "waiting" or not other.has_turn, "one of them waits for the other one")
    if other.has_turn:
        other.release()
    run_until([other], lambda: a.has_answered, "the calls are made")
    a.answer()


def test_too_many_targets_prepare_nothing_where_warnings_are_errors(tmp_path: Path) -> None:
    with Turns(tmp_path) as turns, warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="200 storage targets are more than are told of a process"):
            turns.prepare(targets=range(200))
        with pytest.raises(UsageError, match="nothing is prepared"):
            turns.complete()


def test_targets_that_are_none_are_refused(start: Start, run: Run, scratch: Path) -> None:
    a = run(start(paths=[str(scratch)], bounds=NO_STARVATION, times=PATIENT), "A")
    for number in (-1, 1 << 32):
        with pytest.raises(RefusedError, match=f"a storage target is {number}; expected a number from 0 to 4294967295"):
            a.do("prepare", targets=[number])
