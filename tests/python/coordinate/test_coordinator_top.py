"""What `halcyon coordinator top` prints first, and what it calls amiss; the applications are invented."""

from dataclasses import replace

import pytest

from halcyon.coordinate.printed import print_top
from halcyon.coordinate.state import Application, Load, Top
from halcyon.observe.printed.tables import console_for_tables

LOAD = Load("fcfs", "energy", 1, 4, 1, 1, 0.0, 0.0, 0, [])


def application(job: str, state: str) -> Application:
    return Application(1, job, 0, "", 1, 1, 1, state, 0, 0.0, 1.0, 0.0, 0)


def test_applications_are_listed_by_their_states_and_unknown_states_come_last(
    capsys: pytest.CaptureFixture[str],
) -> None:
    states = {"a": "new", "b": "computing", "c": "interrupted", "d": "waiting", "e": "may begin", "f": "being stopped",
              "g": "moving", "h": "expected"}  # fmt: skip
    print_top(Top(LOAD, [application(f"job-{name}", state) for name, state in states.items()], []), "s",
              console_for_tables(), 30)  # fmt: skip
    listed = [line.split()[0] for line in capsys.readouterr().out.splitlines() if line.strip().startswith("job-")]
    assert "".join(name.removeprefix("job-") for name in listed) == "gfedchba"


def test_counts_of_faults_are_said_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    counts = ["grants 7", "refused_claims 1", "overdue_stops 2", "own_pauses 3", "own_pauses_s 0.5", "lost_things 1"]
    print_top(Top(replace(LOAD, counts=counts), [], []), "s", console_for_tables(), 30)
    assert "since the epoch began: refused claims 1, overdue stops 2, own pauses 3\n" in capsys.readouterr().out
