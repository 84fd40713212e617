"""What Prometheus reads."""

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from coordinator_process import CoordinatorProcess
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.compiled import core

ROOT = Path(__file__).resolve().parents[3]
Start = Callable[..., CoordinatorProcess]


def test_promtool_finds_nothing_amiss(start: Start) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("needs promtool, of Debian's package prometheus")
    of = start()
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=of.metrics(), capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


def test_metrics_say_who_moves_who_waits_and_why(start: Start) -> None:
    of = start()
    a, b = Agent(of, "A"), Agent(of, "B")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], heard(b, "wait"), "B waits")
    run_until([a, b], heard(a, "grant", 3), "A moves")
    text = of.metrics()

    def value(name: str, label: str = "") -> float:
        found = re.search(rf'^halcyon_coordinator_{name}{{coordinator="scratch"{label}}} (\S+)$', text, re.MULTILINE)
        assert found, name
        return float(found[1])

    assert value("applications", ',state="moving"') == 1
    assert value("applications", ',state="waiting"') == 1
    assert value("turn_holders") == 1
    assert value("expected_wait_seconds") > 0
    assert value("longest_wait_seconds") > 0
    assert value("throughput_bytes_per_second") > 0
    assert value("moved_bytes_total") >= 1 << 20
    assert value("registrations_total") == 2
    assert value("info", ',policy="fcfs"') == 1
    assert value("decisions_by_reason_total", ',reason="alone"') >= 1


def test_every_metric_has_help_and_type_once(start: Start) -> None:
    lines = start().metrics().splitlines()
    names = [line.split()[2] for line in lines if line.startswith("# TYPE")]
    assert len(names) == len(set(names)) > 40
    assert names == [line.split()[2] for line in lines if line.startswith("# HELP")]
    assert {re.split("[{ ]", line)[0] for line in lines if not line.startswith("#")} <= set(names)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [("GET / HTTP/1.1", "404"), ("POST /metrics HTTP/1.1", "405"), ("GET /metrics?x=1 HTTP/1.0", "200"), ("?", "405")],
)
def test_other_requests_are_refused(start: Start, request_line: str, status: str) -> None:
    head, _ = start().http(f"{request_line}\r\n\r\n")
    assert head.split()[1] == status


def test_a_request_that_does_not_end_is_refused(start: Start) -> None:
    of = start()
    head, _ = of.http("GET /metrics HTTP/1.1\r\n" + "X: y\r\n" * 1999 + "X")
    assert head.split()[1] == "431"
    assert of.count("refused_metrics") == 1


def test_states_are_those_of_top(start: Start) -> None:
    states = re.findall(r'^halcyon_coordinator_applications{.*,state="([^"]+)"}', start().metrics(), re.MULTILINE)
    assert sorted(states) == sorted(core().coordinator.STATES)


def test_every_metric_is_in_the_manual_and_all_that_went_wrong_on_the_board(start: Start) -> None:
    names = re.findall(r"^# TYPE halcyon_coordinator_(\w+)", start().metrics(), re.MULTILINE)
    manual = (ROOT / "docs/coordinator.md").read_text()
    table = manual[manual.index("| metric | meaning |") : manual.index("Prometheus' configuration")]
    told = [one.partition("{")[0].replace("…", r"\w+") for one in re.findall(r"`([^`]+)`", table)]
    unknown = [name for name in names if not any(re.fullmatch(one, name) for one in told)]
    assert unknown == [], "not in docs/coordinator.md"
    board = (ROOT / "share/grafana/coordinator.json").read_text()
    amiss = {name for name in names if name.startswith(("refused_", "dropped_", "closed_", "lost_"))}
    amiss |= {f"{fault}_total" for fault in core().coordinator.FAULTS if fault != "own_pauses"}  # its seconds are there
    assert len(amiss) > 20
    assert {name for name in amiss if f"halcyon_coordinator_{name}{{" not in board} == set()
