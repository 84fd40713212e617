"""Programs that take turns by themselves (halcyon.turns), with the real daemon."""

import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinated_run import said_by, write
from coordinator_process import BASE, PATIENT, STALLING, CoordinatorProcess, wait_until
from scripted_agents import Agent, has_turn, heard, run_until
from turn_programs import Program, RefusedError

Start = Callable[..., CoordinatorProcess]
Run = Callable[..., Program]


def states(of: CoordinatorProcess) -> dict[str, str]:
    return {one.job: one.state for one in of.top().applications}


def hold(of: CoordinatorProcess, one: Program) -> None:
    """The turn, as the coordinator sees it, too."""
    one.hold()
    wait_until(lambda: states(of).get(one.job) == "moving", f"{one.job} moves")


def test_a_program_waits_until_another_one_gives_its_turn_back(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.do("inform")
    wait_until(lambda: states(of).get(b.job) == "waiting", "B waits")
    assert b.do("check") is False
    b.begin("wait")
    a.do("write", file=str(scratch / "a"), mib=4)
    assert states(of)[b.job] == "waiting"
    a.do("release")
    b.answer()
    assert b.status["our_turn"]
    assert states(of)[b.job] == "moving"
    b.do("release")
    assert b.status["waited_s"] > 0
    assert a.status["steps_unasked"] == b.status["steps_unasked"] == 0


def test_a_check_takes_the_turn_when_it_is_ours(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.do("inform")
    wait_until(lambda: states(of).get(b.job) == "waiting", "B waits")
    a.do("release")
    wait_until(lambda: b.do("check"), "B has the turn")
    assert b.status["stage"] == "holding"


def test_the_status_says_who_has_the_turn_and_for_how_long(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    a.do("prepare", nbytes=1 << 30, alone_s=10)
    hold(of, a)
    assert a.status["our_turn"]
    assert a.status["expected_wait_s"] == 0
    assert a.status["holders"] == []
    idle = b.status
    assert (idle["stage"], idle["our_turn"], idle["expected_wait_s"]) == ("idle", False, None)
    assert idle["load"] is None
    b.do("inform")
    wait_until(lambda: b.status["holders"], "B hears who has the turn")
    asks = b.status
    assert asks["holders"] == [a.job]
    assert asks["coordination"] == "coordinated"
    assert asks["stage"] == "asking"
    assert 0 < asks["expected_wait_s"] <= 20
    assert asks["load"] == 2
    b.do("release")  # it comes back later
    wait_until(lambda: states(of)[b.job] != "waiting", "B asks no more")
    assert b.status["expected_wait_s"] is None


def test_the_coordinator_hears_what_was_prepared_and_what_moves(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a = run(of, "A")
    a.do("prepare", nbytes=1 << 30, alone_s=50)
    a.do("prepare", nbytes=1 << 20, access="read")
    hold(of, a)
    told = lambda: next(iter(of.top().applications))  # noqa: E731
    wait_until(lambda: told().state == "moving" and told().bytes_left > 0, "A has told its bytes")
    assert 1 << 29 < told().bytes_left <= 1 << 30
    a.do("write", file=str(scratch / "a"), mib=64)
    wait_until(lambda: of.count("moved_bytes") >= 64 << 20, "the coordinator hears that bytes moved")
    assert told().bytes_left <= (1 << 30) - (64 << 20)
    a.do("release")
    assert a.status["bytes"] >= 64 << 20
    assert a.status["bytes_unasked"] == 0
    a.do("complete")
    a.do("complete")


def test_a_long_access_keeps_its_turn_while_bytes_move(start: Start, run: Run, scratch: Path, tmp_path: Path) -> None:
    of = start(paths=[str(scratch)], times={"heartbeat": "50 ms", "stalled": "4 s"})
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    a.begin("write", file=str(scratch / "a"), until=str(tmp_path / "enough"))
    b.do("inform")
    held_s = lambda: max((one.in_state_s for one in of.top().applications if one.job == a.job), default=0)  # noqa: E731
    wait_until(lambda: held_s() > 6, "A has had its turn for longer than a stalled one may")
    assert states(of)[a.job] == "moving"
    assert of.count("stalled_holders") == 0
    (tmp_path / "enough").touch()
    a.answer()


def test_the_next_program_goes_on_when_the_holder_is_killed(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.do("inform")
    b.begin("wait")
    wait_until(lambda: states(of).get(b.job) == "waiting", "B waits")
    a.kill()
    b.answer()
    assert b.status["our_turn"]
    assert b.status["steps_unasked"] == b.status["steps_starving"] == 0


def test_a_program_that_starves_gets_its_turn_from_the_coordinator(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], bounds={"starvation": "1 s"}, times=PATIENT | {"stop": "60 s"})
    other = Agent(of, "other")
    other.begin()  # a phase without end
    run_until([other], has_turn(other), "the other one has the turn")
    b = run(of, "B")
    b.do("inform")
    b.begin("wait")
    run_until([other], lambda: b.has_answered, "B goes on")
    b.answer()
    assert states(of)[b.job] in ("moving", "being stopped")  # the other one starves, too
    assert b.status["waited_s"] > 0
    assert b.status["steps_unasked"] == b.status["steps_starving"] == 0


def test_a_program_gives_way_between_two_accesses(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    a = run(of, "A")
    hold(of, a)
    other = Agent(of, "other")
    other.begin()
    run_until([other], lambda: states(of).get(a.job) == "being stopped", "A is asked to stop")
    run_until([other], lambda: not a.do("check"), "A hears of it")
    a.do("write", file=str(scratch / "a"), mib=4)  # it comes to its end first
    assert not other.has_turn
    a.begin("wait")
    run_until([other], has_turn(other), "the other one has the turn")
    assert states(of)[a.job] in ("interrupted", "waiting")
    other.release()
    a.answer()
    assert a.status["our_turn"]


def test_programs_that_hold_one_turn_each_and_wait_for_the_other_one_lose_what_they_do_not_use(
    start: Start, run: Run, scratch: Path, tmp_path: Path
) -> None:
    burst = tmp_path / "burst"
    burst.mkdir()
    soon = BASE["times"] | {"stop": "2 s"}
    of_scratch, of_burst = (
        start(paths=[str(one)], bounds={"starvation": "2 s"}, times=soon) for one in (scratch, burst)
    )
    known = {"HALCYON_COORDINATORS": f"{scratch}={of_scratch.address}\n{burst}={of_burst.address}\n"}
    a, b = run(None, "A", **known), run(None, "B", **known)
    a_at_burst = run(None, "A", job_of=a, at=burst, **known)
    b_at_burst = run(None, "B", job_of=b, at=burst, **known)
    hold(of_scratch, a)
    hold(of_burst, b_at_burst)
    for one in (a_at_burst, b):
        one.do("inform")
        one.begin("wait")
    for one in (a_at_burst, b):
        one.answer()  # its turn may be lost again: it does not use it either
        assert one.status["steps_unasked"] == one.status["steps_starving"] == 0
    for of in (of_scratch, of_burst):
        assert of.count("stalled_holders") + of.count("overdue_stops") >= 1


def test_a_forked_process_needs_turns_of_its_own(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a = run(of, "A")
    hold(of, a)
    with pytest.raises(RefusedError, match="this process was forked off the one that made the handle"):
        a.do("in_child", call="release")
    assert a.status["stage"] == "holding"
    assert a.do("own_in_child") == ["holding", "coordinated"]
    assert a.status["stage"] == "holding"


def test_a_turns_that_is_collected_gives_its_turn_back(start: Start, run: Run, scratch: Path) -> None:
    """As when the cell of a notebook failed that has made it."""
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    a.do("write", file=str(scratch / "a"), mib=4)
    b.do("inform")
    b.begin("wait")
    wait_until(lambda: states(of).get(b.job) == "waiting", "B waits")
    a.do("drop")
    wait_until(lambda: b.has_answered, "B has the turn, though A lives")
    b.answer()
    assert b.status["our_turn"]
    assert b.status["steps_starving"] == b.status["steps_unasked"] == 0


def test_a_turns_that_is_collected_in_a_forked_process_stays_with_its_maker(
    start: Start, run: Run, scratch: Path
) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a = run(of, "A")
    hold(of, a)
    a.do("drop_in_child")
    assert a.status["stage"] == "holding"
    a.do("write", file=str(scratch / "a"), mib=4)
    assert states(of)[a.job] == "moving"
    a.do("release")
    assert a.status["bytes"] >= 4 << 20
    assert a.status["bytes_unasked"] == 0


def test_handlers_of_signals_run_while_a_program_waits(start: Start, run: Run, scratch: Path, tmp_path: Path) -> None:
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.do("handle", number=signal.SIGUSR1, by_making=str(tmp_path / "handled"))
    b.do("inform")
    b.begin_to_wait("wait")
    b.process.send_signal(signal.SIGUSR1)
    wait_until((tmp_path / "handled").exists, "B runs its handler")
    assert not b.has_answered
    assert states(of)[b.job] == "waiting"
    a.do("release")
    assert b.answer() == "done"
    assert b.status["our_turn"]
    assert b.status["steps_starving"] == b.status["steps_unasked"] == 0


def interrupt(of: CoordinatorProcess, waiting: Program) -> None:
    """By Ctrl-C, once it waits for its turn."""
    wait_until(lambda: states(of).get(waiting.job) == "waiting", "it waits")
    waiting.process.send_signal(signal.SIGINT)
    wait_until(lambda: waiting.has_answered, "the wait ends")
    assert waiting.answer() == "interrupted"
    wait_until(lambda: states(of)[waiting.job] != "waiting", "it asks no more")


@pytest.mark.parametrize("call", ["wait", "join"])
@pytest.mark.parametrize("waits_again", [True, False])
def test_ctrl_c_ends_a_wait_and_nothing_is_asked_for_any_more(
    start: Start, run: Run, scratch: Path, call: str, waits_again: bool
) -> None:
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.do("inform")
    b.begin_to_wait(call)
    interrupt(of, b)
    assert b.status["stage"] == "asking"
    if not waits_again:
        b.do("release")
        assert b.status["stage"] == "idle"
        assert states(of)[b.job] != "waiting"
        return
    b.begin("wait")
    wait_until(lambda: states(of)[b.job] == "waiting", "B asks again")
    a.do("release")
    b.answer()
    assert b.status["our_turn"]
    assert b.status["steps_starving"] == b.status["steps_unasked"] == 0


def test_ctrl_c_in_the_wait_of_a_phase_ends_the_phase(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=PATIENT)
    a, b = run(of, "A"), run(of, "B")
    hold(of, a)
    b.begin_to_wait("in_phase", file=str(scratch / "b"), mib=1)
    interrupt(of, b)
    assert b.status["stage"] == "idle"
    assert not (scratch / "b").exists()
    with pytest.raises(RefusedError, match="nothing is prepared"):
        b.do("complete")


def test_a_job_has_one_agent_whoever_asks(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    a = run(of, "A")
    again = run(of, "A", job_of=a)
    hold(of, a)
    again.hold()  # it is their job's turn
    assert [one.agents for one in of.top().applications] == [1]
    a.do("release")
    assert again.do("check") is True
    assert states(of)[a.job] == "moving"


@pytest.mark.usefixtures("library")
def test_calls_of_a_program_under_the_layer_do_not_wait_twice(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], policy="interrupt", times=PATIENT | {"stop": "60 s"})
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--coordinators", str(of.config), "--"]
    a = run(of, "A", before=halcyon)
    a.hold()
    wait_until(lambda: "moving" in states(of).values(), "A moves")
    assert a.status["coordination"] == "coordinated"
    other = Agent(of, "other")
    other.begin()
    run_until([other], lambda: not a.do("check"), "A is asked to stop")
    a.do("write", file=str(scratch / "a"), mib=8)  # its calls do not wait: it holds the turn
    assert not heard(other, "grant")()
    a.do("release")
    run_until([other], has_turn(other), "the other one has the turn")
    run_until([other], lambda: "interrupted" not in states(of).values(), "the phase of A is over")
    a.begin("write", file=str(scratch / "a"), mib=8)  # now its calls take turns by themselves
    run_until([other], heard(other, "stop"), "the other one is stopped for them")
    run_until([other], lambda: a.has_answered, "A goes on")
    a.answer()
    assert (a.status["bytes"], a.status["bytes_unasked"]) == (16 << 20, 0)  # counted once
    said = a.end()
    assert "1 process took turns: 16.8 MB in turn" in said
    assert "out of turn" not in said


@pytest.mark.usefixtures("library")
@pytest.mark.parametrize("moved_mib", [0, 4])
def test_a_program_that_computes_in_its_turn_loses_it_to_one_that_waits(
    start: Start, run: Run, scratch: Path, moved_mib: int
) -> None:
    """After the time for which a holder may move nothing, also if it moved something before."""
    of = start(paths=[str(scratch)], bounds={"starvation": "10 min"}, times=STALLING)
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--coordinators", str(of.config), "--"]
    a = run(of, "A", before=halcyon)
    a.hold()
    wait_until(lambda: "moving" in states(of).values(), "A moves")
    a.do("write", file=str(scratch / "a"), mib=moved_mib)
    said = said_by(write(of, scratch))
    assert "1 process took turns: 8.39 MB in turn" in said
    assert "out of turn" not in said
    assert of.count("stalled_holders") >= 1  # more, if the other one pauses long enough to lose its turn again
    assert of.count("overdue_stops") == 0


# The place of the first process is free again when the shell becomes the program. While it waits for that, it starts no
# process, which would take that place.
BECOMES_ANOTHER = """
cd "$1"; shift
sh -c 'printf %1048576d 0 > first; : > ../first.done; kill -STOP $$' &
until [ -e ../first.done ]; do :; done
sh -c '
    printf %1048576d 0 > own
    kill -9 $1
    until set -- "$2"/*."$1".*.coordinate "$@" && [ -e "$1" ]; do shift; done
    shift 3; exec "$@"
' sh $! "$HALCYON_TRACE_DIR" "$@"
exit $?
"""


@pytest.mark.usefixtures("library")
def test_a_process_that_becomes_another_program_keeps_its_place(start: Start, run: Run, scratch: Path) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict", "--coordinators", str(of.config)]
    a = run(of, "A", before=[*halcyon, "--", "sh", "-c", BECOMES_ANOTHER, "sh", str(scratch)])
    a.hold()
    a.do("write", file=str(scratch / "a"), mib=4)
    a.do("release")
    assert "6.29 MB in turn" in a.end()  # those of both programs are told, and those of the killed process


def test_a_phase_gives_its_turn_back_at_its_end(start: Start, run: Run, scratch: Path) -> None:
    a = run(start(paths=[str(scratch)], times=PATIENT), "A")
    a.do("in_phase", file=str(scratch / "a"), mib=2, nbytes=2 << 20)
    assert a.status["stage"] == "idle"
    assert a.status["bytes"] >= 2 << 20
    with pytest.raises(RefusedError, match="nothing is prepared"):
        a.do("complete")
    assert (scratch / "a").stat().st_size == 1 << 20
