"""Clocks that step where applications run: turns go by durations alone."""

from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from stepping_clock import FAKETIME, SteppingClock
from test_program_turns import hold, states
from test_programs_without_turns import variables_of_agent
from turn_programs import Program

Start = Callable[..., CoordinatorProcess]
Run = Callable[..., Program]
DAY_S = 24 * 3600
MIB = 64


@pytest.mark.parametrize("step_s", [2 * DAY_S, -2 * DAY_S])
def test_a_clock_that_steps_under_who_holds_and_who_waits_changes_no_turn(
    start: Start, run: Run, scratch: Path, clock: SteppingClock, step_s: int
) -> None:
    of = start(paths=[str(scratch)], times=PATIENT)
    known = clock.variables | clock.of_agents()
    a, b = run(of, "A", **known), run(of, "B", **known)
    for one in (a, b):
        assert f"LD_PRELOAD={FAKETIME}" in variables_of_agent(one.job)
    hold(of, a)
    b.do("inform")
    b.begin("wait")
    wait_until(lambda: states(of).get(b.job) == "waiting", "B waits")
    clock.step(step_s)
    a.do("write", file=str(scratch / "a"), mib=MIB)
    wait_until(lambda: of.count("moved_bytes") >= MIB << 20, "A's agent has told of them")
    assert states(of) == {a.job: "moving", b.job: "waiting"}
    assert not b.has_answered
    a.do("release")
    b.answer()
    for one in (a, b):
        told = one.status
        assert told["coordination"] == "coordinated"
        assert (told["steps_unasked"], told["steps_starving"], told["bytes_unasked"]) == (0, 0, 0)
    assert of.count("stalled_holders") == of.count("silent_agents") == of.count("lost_connections") == 0
