"""Prometheus itself reads the daemon's metrics, and Grafana's board asks for nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess
from prometheus_process import PrometheusProcess
from scripted_agents import Agent, has_turn, heard, run_until

ROOT = Path(__file__).resolve().parents[3]
BOARD = json.loads((ROOT / "share/grafana/coordinator.json").read_text())
TARGETS = [(panel["title"], target) for panel in BOARD["panels"] for target in panel["targets"]]
Start = Callable[..., CoordinatorProcess]

pytestmark = pytest.mark.skipif(
    not PrometheusProcess.is_installed(), reason="needs prometheus, of Debian's package prometheus"
)


@pytest.fixture
def watched(start: Start, tmp_path: Path) -> Iterator[tuple[CoordinatorProcess, PrometheusProcess]]:
    of = start(metrics="tcp:127.0.0.1:0", times=PATIENT)
    prometheus = PrometheusProcess(tmp_path, of)
    yield of, prometheus
    prometheus.end()


def filled(expression: str) -> str:
    """As Grafana asks it."""
    for variable, value in {"$__rate_interval": "1m", "$coordinator": ".*", "$__interval": "1m"}.items():
        expression = expression.replace(variable, value)
    assert "$" not in expression
    return expression


def test_prometheus_has_what_the_daemon_says(watched: tuple[CoordinatorProcess, PrometheusProcess]) -> None:
    of, prometheus = watched
    a, b = Agent(of, "A"), Agent(of, "B")
    a.begin()
    run_until([a, b], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b], heard(b, "wait"), "B waits")
    run_until([a, b], heard(a, "grant", 3), "A moves")
    scraped = lambda name, labels="": prometheus.value(  # noqa: E731
        f'halcyon_coordinator_{name}{{coordinator="scratch",job="halcyon"{labels}}}'
    )
    a.moves = False
    load = of.top()
    prometheus.wait_until_it_has_scraped(1)
    assert prometheus.value('up{job="halcyon"}') == 1
    assert scraped("turn_holders") == load.load.moving == 1
    assert scraped("applications", ',state="waiting"') == load.load.waiting == 1
    assert scraped("epoch") == load.load.epoch
    counts = dict(one.split() for one in load.load.counts)
    assert scraped("moved_bytes_total") == int(counts["bytes_moved"]) > 0
    assert scraped("grants_total") == int(counts["grants"])


def test_the_board_asks_for_metrics_that_exist_in_words_that_prometheus_understands(
    watched: tuple[CoordinatorProcess, PrometheusProcess],
) -> None:
    of, prometheus = watched
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    prometheus.wait_until_it_has_scraped(2)
    known = {str(one["metric"]["__name__"]) for one in prometheus.ask('{__name__=~"halcyon_.*"}')}
    asked = set(re.findall(r"\bhalcyon_\w+", json.dumps(BOARD)))
    assert len(asked) > 40
    assert asked <= known, f"the daemon has no {sorted(asked - known)}"
    for panel, target in TARGETS:
        series = prometheus.ask(filled(target["expr"]))
        assert series, f"{panel}: nothing fits {target['expr']}"
        labels = set(re.findall(r"{{(\w+)}}", target["legendFormat"]))
        assert labels <= set(series[0]["metric"]), f"{panel}: {target['legendFormat']} has labels that nothing has"


def test_panels_of_the_board_do_not_overlap() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in BOARD["panels"]:
        at = panel["gridPos"]
        assert at["x"] + at["w"] <= 24
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not taken & cells, panel["title"]
        taken |= cells
