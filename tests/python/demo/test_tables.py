"""The demo's tables say what they cannot show, and cut no number."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from measurements import CALM, PACE, counted, round_of
from rich.console import Console

from halcyon.demo.comparison_rounds import Comparison
from halcyon.demo.measurement import Measurement
from halcyon.demo.overload import Overload
from halcyon.demo.table_rows import NOT_REACHED, Rows, comparison_rows, overload_rows
from halcyon.demo.tables import print_rows
from halcyon.demo.verdict import overload_cautions

COMPARISON = Comparison([round_of(), round_of(control=replace(CALM, run_s=4.321))], {})


def overload(measured: dict[str, Measurement]) -> Overload:
    return Overload(1e6, measured, {title: Path(title) for title in measured})


def rows(measured: dict[str, Measurement]) -> dict[str, list[str]]:
    (section,) = overload_rows(overload(measured)).sections
    assert len(section) == len(measured)
    return {row[0]: row for row in section}


@pytest.mark.parametrize("full", ["spilled_blocks", "skipped_blocks", "inlined_blocks", "early_parts"])
def test_a_policy_that_had_something_to_do_shows_it(full: str) -> None:
    measured = {"file-per-process": CALM, "policy": counted(full)}
    assert not any(NOT_REACHED in row for row in rows(measured).values())
    assert overload_cautions(overload(measured)) == []


def test_a_wait_for_room_is_overload() -> None:
    assert overload_cautions(overload({"block": replace(CALM, blocked_s=0.1)})) == []


def test_overload_that_was_not_reached_is_no_success() -> None:
    measured = {"file-per-process": CALM, "block": CALM, "skip": counted("skipped_blocks"), "inline": CALM}
    by_policy = rows(measured)
    assert [NOT_REACHED in by_policy[policy] for policy in ("block", "skip", "inline")] == [True, False, True]
    assert NOT_REACHED not in by_policy["(file-per-process)"]
    assert "all stored" not in by_policy["block"]
    assert overload_rows(overload(measured)).doubtful == ("block", "inline")
    (caution,) = overload_cautions(overload(measured))
    assert caution.startswith("Overload was not reached with block, inline: ")


@pytest.mark.parametrize("width", [20, 60, 110, 300])
@pytest.mark.parametrize(
    "table", [comparison_rows(COMPARISON), overload_rows(overload({"skip": counted("skipped_blocks")}))]
)
def test_no_terminal_is_too_narrow_for_a_number(table: Rows, width: int) -> None:
    console = Console(width=width, file=io.StringIO())
    print_rows(table, console)
    shown = console.file.getvalue().split()  # type: ignore[attr-defined]
    for line in [table.heads, *(row for section in table.sections for row in section)]:
        for cell in line:
            for word in cell.split():
                assert word in shown, (word, width)


def test_rounds_that_do_not_count_are_not_in_the_table() -> None:
    fast = round_of(PACE, file_per_process=replace(CALM, store_s=0.001, run_s=77.0))
    assert comparison_rows(Comparison([fast, round_of()], {})) == comparison_rows(Comparison([round_of()], {}))
    everything = str(comparison_rows(Comparison([fast, fast], {})))
    assert "77.0 s" in everything, "where no round counts, all are shown"
