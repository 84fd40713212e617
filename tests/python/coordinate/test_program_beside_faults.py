"""A program that writes under `halcyon run --coordinate` while its daemon is killed, stopped, slow or replaced."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
from elected_pair import Pair, leads
from overheard import Overheard
from scripted_agents import Agent, has_turn, run_until
from told_program import BLOCK, ToldProgram, asks_and_waits, states

Prepare = Callable[..., CoordinatorProcess]
SLOW_S = 5.0
"""For each message: longer than programs are patient."""


pytestmark = pytest.mark.usefixtures("library")


def begun(of: CoordinatorProcess, tmp_path: Path) -> ToldProgram:
    """A program that has written a block in its turn."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    of.configure(paths=[str(folder)])
    of.start()
    program = ToldProgram(of, folder)
    program.ask()
    wait_until(program.has_written, "the first block is written")
    return program


def writes_unasked(program: ToldProgram) -> None:
    """Though its lease may have bytes left at first."""
    for _ in range(8):
        program.ask()
        wait_until(program.has_written, "it goes on though nobody answers")


def takes_turns_again(program: ToldProgram, of: CoordinatorProcess) -> None:
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "another application has the turn")
    run_until([other], lambda: asks_and_waits(program, of), "the program waits")
    other.release()
    run_until([other], program.has_written, "it goes on")
    program.ask()  # the block before may have been under way unasked when the program seemed to wait
    run_until([other], program.has_written, "it has its turn")


def says_what_it_did(program: ToldProgram, least_unasked: int = BLOCK) -> None:
    in_turn, unasked = program.end()
    assert in_turn >= 2 * BLOCK * 0.99
    assert unasked >= least_unasked
    assert in_turn + unasked == pytest.approx(program.asked * BLOCK, rel=0.01)


def test_a_program_goes_on_when_its_daemon_is_killed_and_takes_turns_with_the_next_one(
    prepare: Prepare, tmp_path: Path
) -> None:
    of = prepare()
    program = begun(of, tmp_path)
    of.kill()
    writes_unasked(program)
    of.start()
    takes_turns_again(program, of)
    says_what_it_did(program)


def test_a_program_goes_on_while_its_daemon_is_stopped_and_takes_turns_when_it_wakes(
    prepare: Prepare, tmp_path: Path
) -> None:
    of = prepare()
    program = begun(of, tmp_path)
    of.signal(signal.SIGSTOP)
    writes_unasked(program)
    of.signal(signal.SIGCONT)
    takes_turns_again(program, of)
    says_what_it_did(program)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGSTOP])
def test_a_program_goes_on_when_the_daemon_that_leads_fails_and_takes_turns_with_the_other_one(
    pair: Callable[..., Pair], tmp_path: Path, by: signal.Signals
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    two = pair(paths=[str(folder)], lease="3 s").start()
    program = ToldProgram(two.first, folder)
    program.ask()
    wait_until(program.has_written, "the first block is written")
    two.first.signal(by)
    writes_unasked(program)
    wait_until(lambda: leads(two.second), "the second daemon leads")
    takes_turns_again(program, two.second)
    says_what_it_did(program, least_unasked=0)  # the second daemon may lead before the program's patience ends


def test_a_program_whose_daemon_is_restarted_at_once_loses_no_byte(prepare: Prepare, tmp_path: Path) -> None:
    of = prepare()
    program = begun(of, tmp_path)
    for _ in range(3):
        program.ask()
        of.kill()
        of.start()
        wait_until(program.has_written, "it goes on")
    in_turn, unasked = program.end()
    assert in_turn + unasked == pytest.approx(4 * BLOCK, rel=0.01)


def test_a_program_goes_on_while_its_daemon_is_slow_and_takes_turns_when_it_answers_in_time(
    prepare: Prepare, tmp_path: Path
) -> None:
    folder = tmp_path / "scratch"
    folder.mkdir()
    of = prepare()
    between = of.folder / "between"
    of.configure(paths=[str(folder)], address=f"unix:{between}", listen=[str(of.address)], times=PATIENT)
    of.start()
    delays_s = [SLOW_S]
    way = Overheard(between, of.socket, lambda *_: time.sleep(delays_s[-1]))
    program = ToldProgram(of, folder)
    try:
        writes_unasked(program)
        wait_until(lambda: states(of), "the daemon has heard of it")
        writes_unasked(program)
        delays_s.append(0.0)
        takes_turns_again(program, of)
        in_turn, unasked = program.end()
    finally:
        way.close()
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()
    assert in_turn >= BLOCK * 0.99
    assert unasked >= BLOCK
    assert in_turn + unasked == pytest.approx(program.asked * BLOCK, rel=0.01)
