"""`halcyon coordinator top` and `explain`, against a daemon with two applications."""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from coordinator_process import LIMIT_S, PATIENT, CoordinatorProcess
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.cli import main
from halcyon.policy.functions import metric_names, rule_names

Start = Callable[..., CoordinatorProcess]


@pytest.fixture
def shared(start: Start) -> Iterator[CoordinatorProcess]:
    """A has the turn at it, and has moved bytes; B waits. The agents say nothing while a command runs."""
    of = start(bounds={"starvation": "10 min"}, times=PATIENT)
    a, b, idle = Agent(of, "lammps.77"), Agent(of, "ior.78"), Agent(of, "idle.79")
    run_until([idle], heard(idle, "registered"), "the third one computes")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], lambda: heard(b, "wait")() and heard(a, "grant", 3)(), "B waits, and A moves")
    yield of
    for one in (a, b, idle):
        one.connection.close()


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def said(capfd: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["coordinator", *arguments]) == 0
    return capfd.readouterr().out


def test_top_shows_who_has_the_turn_and_who_waits(
    shared: CoordinatorProcess, capfd: pytest.CaptureFixture[str]
) -> None:
    out = said(capfd, "top", "--config", str(shared.config))
    assert re.search(r"^scratch: policy fcfs; 3 applications, 1 moving, 1 waiting; \S+ [kMG]?B/s; writers without", out)
    rows = [line.split() for line in out.splitlines() if line.startswith(("lammps", "ior"))]
    assert [row[:3] for row in rows] == [["lammps.77", "moving", "root"], ["ior.78", "waiting", "root"]]
    assert rows[0][-2:] == ["1", "4"]


def test_top_for_programs_has_everything(shared: CoordinatorProcess, capfd: pytest.CaptureFixture[str]) -> None:
    told = json.loads(said(capfd, "top", "--json", "--address", str(shared.address)))
    assert told["load"]["rule"] == "fcfs"
    assert told["load"]["moving"] == 1
    assert [(one["job"], one["state"]) for one in told["applications"]] == [
        ("lammps.77", "moving"),
        ("ior.78", "waiting"),
        ("idle.79", "computing"),
    ]
    assert told["applications"][1]["expected_wait_s"] > 0
    assert all(one["in_state_s"] < LIMIT_S for one in told["applications"]), "since they are registered at the longest"


@pytest.mark.usefixtures("interruptible")
def test_top_is_told_again_and_again_until_it_is_ended(shared: CoordinatorProcess) -> None:
    words = [sys.executable, "-m", "halcyon", "coordinator", "top", "--watch", "0.05", "--config", str(shared.config)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first_lines = (line for line in process.stdout if line.startswith("scratch: "))
        for _ in range(3):
            assert next(first_lines).startswith("scratch: policy fcfs; 3 applications, 1 moving, 1 waiting; ")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_S) == 0


def test_explain_says_who_may_move_and_why(shared: CoordinatorProcess, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "explain", "--config", str(shared.config))
    assert re.match(r"\S+ m?s ago: lammps\.77 may move: alone, of 1 that want the storage\n", out)
    told = json.loads(said(capfd, "explain", "--json", "-n", "1", "--config", str(shared.config)))
    assert told["decisions"][0]["move"] == ["lammps.77"]
    assert told["decisions"][0]["observed_cost"] == -1


def test_explain_predicts_what_alternatives_cost(start: Start, capfd: pytest.CaptureFixture[str]) -> None:
    of = start(policy="interrupt")
    a, b = Agent(of, "A"), Agent(of, "B")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], has_turn(b), "B has the turn")
    out = said(capfd, "explain", "--config", str(of.config))
    assert "A stops" in out
    needs = r"needs [0-9.]+ s and 100 % of the storage"
    assert re.search(rf"^  believed, of each alone: A {needs}; B {needs}$", out, re.MULTILINE)
    assert re.search(r"^  predicted cost: .*fcfs [0-9.]+", out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["top", "--address", "unix:/nowhere/at/all"], "halcyon: no coordinator at unix:/nowhere/at/all: No such file"),
        (["top", "--address", "nowhere"], "halcyon: address 'nowhere'; expected unix:/path/to/socket"),
        (["top", "--address", "unix:@x", "--watch", "0"], "halcyon: --watch 0: expected seconds above 0"),
        (["explain", "-n", "0"], "halcyon: -n 0: expected 1 to 4096"),
    ],
)
def test_what_cannot_be_is_said(capfd: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["coordinator", *arguments]) in (1, 2)
    assert capfd.readouterr().err.startswith(message)


@pytest.mark.parametrize("command", [["top"], ["explain"], ["run"], ["end", "x"], ["reserve", "x", "--user", "0"]])
def test_without_a_file_the_ways_to_name_a_coordinator_are_said(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    way_out = "No such file or directory; name a coordinator: --address ADDRESS, or another file: --config FILE\n"
    assert main(["coordinator", *command, "--config", "/nowhere.yaml"]) == 1
    assert capfd.readouterr().err == f"halcyon: /nowhere.yaml: {way_out}"
    monkeypatch.setenv("HALCYON_COORDINATORS_FILE", "/none.yaml")
    assert main(["coordinator", *command]) == 1
    assert capfd.readouterr().err == f"halcyon: /none.yaml: {way_out}"


def test_a_word_where_a_number_belongs_is_named(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["coordinator", "explain", "-n", "x"])
    assert ended.value.code == 2
    assert capfd.readouterr().err.startswith("halcyon: argument -n: 'x' is no whole number\n")
    with pytest.raises(SystemExit):
        main(["coordinator", "top", "--watch", "often"])
    assert "argument --watch: 'often' is no number\n" in capfd.readouterr().err


def test_the_help_of_run_lists_every_policy_and_metric(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    with pytest.raises(SystemExit):
        main(["coordinator", "run", "--help"])
    told = re.findall(r"[a-z0-9-]+", capfd.readouterr().out)
    assert {*rule_names(), *metric_names()} <= set(told)
