"""Faults of the daemon or of a program at any message of an exchange, and what holds behind each of them."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from coordinator_process import CoordinatorProcess, wait_until
from elected_pair import Pair, leads
from faulty_exchange import IMPATIENT_MS, PATIENT_MS, TIMES, Exchange, Step


@contextmanager
def _into_fault(programs: Exchange) -> Iterator[Exchange]:
    try:
        programs.run_into_fault()
        yield programs
    finally:
        programs.close()


def _start(of: CoordinatorProcess, folder: Path, step: Step) -> None:
    of.configure(paths=[str(folder)], policy=step.policy, times=TIMES)
    of.start()


def kill(of: CoordinatorProcess, folder: Path, step: Step) -> None:
    """For good."""
    _start(of, folder, step)
    with _into_fault(Exchange([of], folder, step, [of.kill], IMPATIENT_MS)) as programs:
        programs.goes_on_unasked()
        assert "no coordinator answered" in programs.end()


def stop(of: CoordinatorProcess, folder: Path, step: Step) -> None:
    """For longer than the programs are patient."""
    _start(of, folder, step)
    with _into_fault(Exchange([of], folder, step, [lambda: of.signal(signal.SIGSTOP)], IMPATIENT_MS)) as programs:
        programs.goes_on_unasked()
        of.signal(signal.SIGCONT)
        programs.takes_turns_again()
        assert "no coordinator answered" in programs.end()


def restart(of: CoordinatorProcess, folder: Path, step: Step) -> None:
    """At once."""
    _start(of, folder, step)
    with _into_fault(Exchange([of], folder, step, [of.kill], PATIENT_MS)) as programs:
        of.start()
        programs.takes_turns_again()
        assert "out of turn" not in programs.end()


def lose(of: CoordinatorProcess, folder: Path, step: Step) -> None:
    """All processes of the program of the step."""
    _start(of, folder, step)
    programs: Exchange = Exchange([of], folder, step, [lambda: programs.kill_program()], PATIENT_MS)
    with _into_fault(programs):
        programs.goes_on_without_it()
        assert "out of turn" not in programs.end()


def _start_pair(two: Pair, folder: Path, step: Step, lease: str) -> None:
    two.configure(paths=[str(folder)], policy=step.policy, times=TIMES, lease=lease)
    two.start()


def replace(two: Pair, folder: Path, step: Step) -> None:
    """The one that leads, by the other one."""
    _start_pair(two, folder, step, "3 s")
    with _into_fault(Exchange(two.daemons, folder, step, [two.first.kill], PATIENT_MS)) as programs:
        wait_until(lambda: leads(two.second), "the second daemon leads")
        programs.takes_turns_again()
        assert "out of turn" not in programs.end()


def replace_twice(two: Pair, folder: Path, step: Step) -> None:
    """The second one at the next message of the same kind: where that is `registered`, it knows nobody yet."""

    def kill_the_first_one() -> None:
        two.first.kill()
        two.first.start()

    _start_pair(two, folder, step, "3 s")
    with _into_fault(
        Exchange(two.daemons, folder, step, [kill_the_first_one, two.second.kill], PATIENT_MS)
    ) as programs:
        wait_until(lambda: leads(two.first), "the first daemon leads again")
        programs.takes_turns_again()
        assert "out of turn" not in programs.end()


def replace_late(two: Pair, folder: Path, step: Step) -> None:
    """Later than the programs are patient."""
    _start_pair(two, folder, step, "60 s")
    with _into_fault(Exchange(two.daemons, folder, step, [two.first.kill], IMPATIENT_MS)) as programs:
        programs.goes_on_unasked()
        assert "no coordinator answered" in programs.end()
        assert not leads(two.second), "nobody has waited for the second daemon"


OF_ONE = {"kill": kill, "stop": stop, "restart": restart, "lose": lose}
OF_TWO = {"replace": replace, "replace-twice": replace_twice, "replace-late": replace_late}
