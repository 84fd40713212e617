"""The demo's tables say what they cannot show."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from halcyon.demo.measurement import Measurement
from halcyon.demo.overload import Overload
from halcyon.demo.tables import NOT_REACHED, overload_cautions, overload_table
from halcyon.departures import COUNTED
from halcyon.run_statistics import Spread

CALM = Measurement(
    visible_s=Spread(0.001, 0.001, 0.001, 0.001), visible_total_s=0.008, spread_s=0.0, run_s=4.0, compute_s=3.0,
    compute_phase_s=0.4, store_s=0.2, server_busy=0.5, blocked_s=0.0, bytes=1000,
    counts=dict.fromkeys([*COUNTED, "skipped_bytes", "spilled_bytes", "inlined_bytes"], 0), iterations=8,
    server_core="own core",
)  # fmt: skip


def counted(name: str) -> Measurement:
    return replace(CALM, counts=CALM.counts | {name: 5})


def rows(measured: dict[str, Measurement]) -> list[str]:
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(overload_table(Overload(1e6, measured, {title: Path(title) for title in measured})))
    found = [line for line in console.export_text().splitlines() if any(title in line for title in measured)]
    assert len(found) == len(measured)
    return found


@pytest.mark.parametrize("full", ["spilled_blocks", "skipped_blocks", "inlined_blocks", "early_parts"])
def test_a_policy_that_had_something_to_do_shows_it(full: str) -> None:
    measured = {"file-per-process": CALM, "policy": counted(full)}
    assert not any(NOT_REACHED in row for row in rows(measured))
    assert overload_cautions(Overload(1e6, measured, {})) == []


def test_a_wait_for_room_is_overload() -> None:
    assert overload_cautions(Overload(1e6, {"block": replace(CALM, blocked_s=0.1)}, {})) == []


def test_overload_that_was_not_reached_is_no_success() -> None:
    measured = {"file-per-process": CALM, "block": CALM, "skip": counted("skipped_blocks"), "inline": CALM}
    by_policy = {row.split()[0]: row for row in rows(measured)}
    assert [NOT_REACHED in by_policy[policy] for policy in ("block", "skip", "inline")] == [True, False, True]
    assert NOT_REACHED not in by_policy["(file-per-process)"]
    assert "all stored" not in by_policy["block"]
    (caution,) = overload_cautions(Overload(1e6, measured, {}))
    assert caution.startswith("overload was not reached with block, inline: ")
