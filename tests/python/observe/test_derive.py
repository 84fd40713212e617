"""Derived columns against an implementation that looks at one call after the other."""

from pathlib import Path

from derived_calls import Row, derived
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from halcyon.observe.engines import Engine
from halcyon.observe.schema import CALLS


@st.composite
def thread_calls(draw: st.DrawFn, process: int, thread: int | None) -> list[Row]:
    """Calls of one thread, nested at random; some begin when another thread's do."""
    rows: list[Row] = []
    clock = thread or 0

    def call(parent: int | None, depth: int) -> int:
        nonlocal clock
        clock += 10 * draw(st.integers(1, 5))
        kind = draw(st.sampled_from(["open", "read", "write", "copy"]))
        row: Row = dict.fromkeys(CALLS.names) | {
            "process": process,
            "thread": thread,
            "number": len(rows) + 1,
            "parent": parent,
            "level": ["hdf5", "mpiio", "posix"][depth],
            "call": f"{kind}{depth}",
            "kind": kind,
            "file": draw(st.one_of(st.none(), st.integers(0, 1))),
            "offset": draw(st.one_of(st.none(), st.integers(0, 4))),
            "moved": draw(st.one_of(st.none(), st.integers(0, 3))),
            "start_ns": clock,
            "wait_ns": draw(st.one_of(st.none(), st.integers(0, 3))),
        }
        rows.append(row)
        inner = sum(call(row["number"], depth + 1) for _ in range(draw(st.integers(0, 2)))) if depth < 2 else 0
        row["duration_ns"] = inner + draw(st.integers(0, 9))
        clock += row["duration_ns"] - inner
        return row["duration_ns"] + (row["wait_ns"] or 0)

    for _ in range(draw(st.integers(0, 4))):
        call(None, 0)
    return rows


@st.composite
def process_calls(draw: st.DrawFn) -> list[Row]:
    rows = []
    for process in range(draw(st.integers(1, 2))):
        for thread in draw(st.sampled_from([[None], [0], [0, 1]])):
            rows += draw(thread_calls(process, thread))
    return draw(st.permutations(rows))


def obviously(rows: list[Row]) -> list[Row]:
    """Sorted rows with their derived columns, one after the other."""
    order = ("process", "start_ns", "thread", "number")
    rows = sorted(
        (dict(row) for row in rows), key=lambda row: [-1 if row[name] is None else row[name] for name in order]
    )
    ends: dict[object, int] = {}
    for row in rows:
        own_thread = [other for other in rows if (other["process"], other["thread"]) == (row["process"], row["thread"])]
        parents = [other for other in own_thread if row["parent"] is not None and other["number"] == row["parent"]]
        row["parent_level"] = parents[0]["level"] if parents else None
        row["parent_call"] = parents[0]["call"] if parents else None
        inner = [other for other in own_thread if other["parent"] == row["number"]]
        row["self_ns"] = row["duration_ns"] - sum(other["duration_ns"] + (other["wait_ns"] or 0) for other in inner)
        row["step"] = None
        if row["kind"] != "open" and row["moved"] and row["file"] is not None and row["offset"] is not None:
            key = (row["process"], row["file"], row["level"], row["kind"])
            row["step"] = row["offset"] - ends[key] if key in ends else None
            ends[key] = row["offset"] + row["moved"]
    return rows


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=process_calls())
def test_derived_columns_are_those_of_the_slow_way(duckdb: Engine, tmp_path: Path, rows: list[Row]) -> None:
    found = derived(duckdb, tmp_path, rows)
    assert found == obviously(rows)
    assert {type(row["self_ns"]) for row in found} <= {int}
