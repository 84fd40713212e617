"""`halcyon coordinator reserve` and `end`, against the daemon."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import OTHER_USER, PATIENT, CoordinatorProcess, wait_until
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.cli import main
from halcyon.coordinate.connection import Connection
from halcyon.coordinate.jobs import end_job, reserve_job
from halcyon.errors import UsageError

Start = Callable[..., CoordinatorProcess]


def test_a_reserved_job_is_its_users(start: Start) -> None:
    of = start()
    assert main(["coordinator", "reserve", "pbs-7", "--user", "root", "--nodes", "1", "--config", str(of.config)]) == 0
    assert [(one.job, one.user, one.nodes) for one in of.top().reservations] == [("pbs-7", 0, 1)]
    claimer, owner = Agent(of, "pbs-7", user=OTHER_USER), Agent(of, "pbs-7.ior")
    run_until([claimer, owner], lambda: heard(claimer, "refused")() and heard(owner, "registered")(), "both answered")
    assert "is reserved for user 0" in claimer.of_type("refused")[0]["reason"]


def test_reservations_outlive_a_change_of_the_policy(start: Start) -> None:
    of = start()
    assert main(["coordinator", "reserve", "pbs-7", "--user", "root", "--config", str(of.config)]) == 0
    of.configure(policy="fair-share")
    of.signal(signal.SIGHUP)
    wait_until(lambda: "policy fair-share" in of.log.read_text(), "another epoch begins")
    assert [(one.job, one.user) for one in of.top().reservations] == [("pbs-7", 0)]
    claimer = Agent(of, "pbs-7", user=OTHER_USER)
    run_until([claimer], heard(claimer, "refused"), "the job is its user's")
    assert main(["coordinator", "end", "pbs-7", "--config", str(of.config)]) == 0
    assert of.top().reservations == []


def test_a_job_that_ended_hands_its_turn_on(start: Start) -> None:
    of = start(times=PATIENT)
    first, second = Agent(of, "pbs-7.ior"), Agent(of, "other")
    first.begin()
    run_until([first, second], has_turn(first), "the first one has the turn")
    second.begin()
    run_until([first, second], heard(second, "wait"), "the second one waits")
    assert main(["coordinator", "end", "pbs-7", "--config", str(of.config)]) == 0
    run_until([second], has_turn(second), "the second one has the turn")
    assert [one.job for one in of.top().applications] == ["other"]


def test_all_coordinators_of_the_file_are_told(start: Start, tmp_path: Path) -> None:
    both = [start(), start()]
    file = tmp_path / "coordinators.yaml"
    lines = [f'  {name}: {{paths: [/{name}], address: "{of.address}"}}' for name, of in zip("ab", both, strict=True)]
    file.write_text("\n".join(["halcyon: 1", "coordinators:", *lines]) + "\n")
    assert main(["coordinator", "reserve", "pbs-7", "--user", "1000", "--config", str(file)]) == 0
    assert [[one.job for one in of.top().reservations] for of in both] == [["pbs-7"], ["pbs-7"]]
    assert main(["coordinator", "end", "pbs-7", "--config", str(file), "--name", "b"]) == 0
    assert [[one.job for one in of.top().reservations] for of in both] == [["pbs-7"], []]


@pytest.mark.parametrize("words", [["reserve", "pbs-7", "--user", "1000"], ["end", "pbs-7"]])
def test_a_coordinator_that_fails_keeps_nobody_from_telling_the_others(
    start: Start, prepare: Start, tmp_path: Path, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    all_of_them = [prepare(), start(), prepare()]
    file = tmp_path / "coordinators.yaml"
    lines = [
        f'  {name}: {{paths: [/{name}], address: "{of.address}"}}' for name, of in zip("abc", all_of_them, strict=True)
    ]
    file.write_text("\n".join(["halcyon: 1", "coordinators:", *lines]) + "\n")
    assert main(["coordinator", *words, "--config", str(file)]) != 0
    said = capsys.readouterr().err
    assert all(f"no coordinator at {of.address}" in said for of in (all_of_them[0], all_of_them[2]))
    told = all_of_them[1]
    assert told.count("reservations") + told.count("ended_jobs") == 1


@pytest.mark.parametrize("ask", [lambda at: reserve_job(at, "pbs-7", OTHER_USER), lambda at: end_job(at, "pbs-7")])
def test_users_who_are_no_administrators_are_refused(start: Start, ask: Callable[[Connection], None]) -> None:
    of = start()
    agent = Agent(of, "pbs-7", user=OTHER_USER)
    run_until([agent], heard(agent, "registered"), "it is registered")
    with pytest.raises(UsageError, match=f"user {OTHER_USER} is no administrator"):
        ask(agent.connection)
    assert of.count("refused_operators") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--user", "x-none"], "--user x-none: no such user here; expected a name, or a number"),
        (["--user", "1", "--nodes", "-1"], "--nodes -1: expected a number above 0"),
        (["--user", "1", "--address", "unix:/nowhere"], "no coordinator at unix:/nowhere"),
    ],
)
def test_what_cannot_be_reserved_is_said(capfd: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["coordinator", "reserve", "pbs-7", *arguments]) in (1, 2)
    assert message in capfd.readouterr().err


@pytest.mark.parametrize("name", ["bad name", "", "x" * 65, "phys\u00e9"])
def test_a_name_that_no_application_can_have_is_not_reserved(
    start: Start, capfd: pytest.CaptureFixture[str], name: str
) -> None:
    of = start()
    assert main(["coordinator", "reserve", name, "--user", "1", "--config", str(of.config)]) == 2
    assert "expected 1 to 64 letters, digits or signs of ASCII, no spaces" in capfd.readouterr().err
    assert of.top().reservations == []


def test_the_end_of_a_job_that_nobody_knows_is_said(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    of = start()
    end = ["coordinator", "end", "pbs-7", "--config", str(of.config)]
    assert main(end) == 1
    assert capfd.readouterr().err.startswith("halcyon: no such job 'pbs-7' at scratch; ")
    assert main(["coordinator", "reserve", "pbs-7", "--user", "1", "--config", str(of.config)]) == 0
    assert main(end) == 0
    agent = Agent(of, "pbs-7.0")
    run_until([agent], heard(agent, "registered"), "it is registered, though not reserved")
    assert main(end) == 0
