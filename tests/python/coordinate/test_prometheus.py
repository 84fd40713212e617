"""Prometheus itself reads the daemon's metrics, and Grafana's board asks for nothing else."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import PATIENT, CoordinatorProcess, wait_until
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

    def told() -> dict[str, int]:
        """By the daemon itself."""
        load = of.top().load
        counts = dict(one.split() for one in load.counts)
        return {
            "turn_holders": load.moving, "applications": load.waiting, "epoch": load.epoch,
            "moved_bytes_total": int(counts["bytes_moved"]), "grants_total": int(counts["grants"]),
        }  # fmt: skip

    def scraped(name: str) -> float | None:
        labels = ',state="waiting"' if name == "applications" else ""
        return prometheus.value(f'halcyon_coordinator_{name}{{coordinator="scratch",job="halcyon"{labels}}}')

    assert told()["turn_holders"] == told()["applications"] == 1
    assert told()["moved_bytes_total"] > 0
    wait_until(lambda: prometheus.value('up{job="halcyon"}') == 1, "Prometheus reaches the daemon")
    for name in told():
        wait_until(lambda: scraped(name) == told()[name], f"Prometheus has {name}")  # noqa: B023


def test_the_board_asks_for_metrics_that_exist_in_words_that_prometheus_understands(
    watched: tuple[CoordinatorProcess, PrometheusProcess],
) -> None:
    of, prometheus = watched
    a = Agent(of, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    prometheus.wait_until_it_has_scraped(2)
    scraped = prometheus.ask('last_over_time({__name__=~"halcyon_.*"}[1h])')
    known = {str(one["metric"]["__name__"]) for one in scraped}
    asked = set(re.findall(r"\bhalcyon_\w+", json.dumps(BOARD)))
    assert len(asked) > 40
    assert asked <= known, f"the daemon has no {sorted(asked - known)}"
    for panel, target in TARGETS:
        series = prometheus.ask_patiently(filled(target["expr"]))
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
