"""What `halcyon coordinator top` prints first, and what it calls amiss; the applications are invented."""

from dataclasses import replace

import pytest

from halcyon.cli import main
from halcyon.coordinate.printed import print_top
from halcyon.coordinate.state import Application, Load, Reservation, Top
from halcyon.printed.tables import console_for_tables

LOAD = Load("fcfs", "energy", 1, 4, 1, 1, 0.0, 0, [])


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


def test_what_is_left_is_shown_of_phases_alone(capsys: pytest.CaptureFixture[str]) -> None:
    """Of one that computes, the coordinator tells how long its next phase is."""
    states = {"a": "computing", "b": "expected", "c": "waiting", "d": "may begin"}
    applications = [replace(application(f"job-{name}", state), left_s=2.5) for name, state in states.items()]
    print_top(Top(LOAD, applications, []), "s", console_for_tables(), 30)
    shown = {line.split()[0]: "2.50 s" in line for line in capsys.readouterr().out.splitlines() if "job-" in line}
    assert shown == {"job-a": False, "job-b": False, "job-c": True, "job-d": False}


def test_writers_without_halcyon_are_shown_only_while_somebody_moves(capsys: pytest.CaptureFixture[str]) -> None:
    print_top(Top(replace(LOAD, unseen_share=0.28), [], []), "s", console_for_tables(), 30)
    assert "writers without Halcyon take 28 % of the bandwidth" in capsys.readouterr().out
    print_top(Top(replace(LOAD, moving=0, unseen_share=0.28), [], []), "s", console_for_tables(), 30)
    assert "writers without Halcyon" not in capsys.readouterr().out


def test_reserved_jobs_follow_behind_one_blank_line(capsys: pytest.CaptureFixture[str]) -> None:
    top = Top(LOAD, [application("job-a", "moving")], [Reservation("pbs-7", 0, 1, 1, 1.0)])
    print_top(top, "s", console_for_tables(), 30)
    out = capsys.readouterr().out
    assert "\n\nreserved by the batch system" in out
    assert "\n\n\n" not in out


def test_counts_of_faults_are_said_and_no_others(capsys: pytest.CaptureFixture[str]) -> None:
    counts = ["grants 7", "refused_claims 1", "overdue_stops 2", "own_pauses 3", "own_pauses_s 0.5", "lost_things 1"]
    print_top(Top(replace(LOAD, counts=counts), [], []), "s", console_for_tables(), 30)
    assert "since the epoch began: refused claims 1, overdue stops 2, own pauses 3\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--rows", "0"], "argument --rows: '0'; expected a whole number above 0"),
        (["--rows", "-1"], "argument --rows: '-1'; expected a whole number above 0"),
        (["--watch", "nan"], "--watch nan: expected seconds above 0, and at most 86,400"),
        (["--watch", "inf"], "--watch inf: expected seconds above 0, and at most 86,400"),
        (["--watch", "0"], "--watch 0: expected seconds above 0, and at most 86,400"),
    ],
)
def test_options_without_a_meaning_are_refused(
    capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    try:
        status = main(["coordinator", "top", *options])
    except SystemExit as ends:
        status = ends.code
    assert status == 2
    assert said in capsys.readouterr().err
