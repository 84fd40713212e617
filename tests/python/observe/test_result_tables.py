"""A result table is declared once, and shown wherever results are shown."""

import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import pytest
from ibis import _
from rich.console import Console

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.times import TimeSpent
from halcyon.observe.dataset import Dataset
from halcyon.observe.dataset_writer import DatasetWriter
from halcyon.observe.printed.run import DRAWN, print_run
from halcyon.observe.report_tables import ReportTables, computed
from halcyon.observe.result_columns import (
    Column,
    Drawn,
    Printed,
    Result,
    Unit,
    columns_of,
    derived,
    results_of,
    rows_in,
)
from halcyon.observe.result_page import page
from halcyon.observe.schema import RunInfo
from halcyon.observe.viewer import document_of
from halcyon.observe.viewer.page import page_names
from halcyon.observe.viewer.tables import TAKEN, page_types
from halcyon.printed.plain import as_json, names_of, plain

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Asked:
    """A table that no other place knows of."""

    call: Annotated[str, Column("the function", head="function")]
    asked_bytes: Annotated[int, Column("bytes that were asked for", head="asked")]
    calls: Annotated[int, Column("calls of it", on_page=False)]

    @property
    @derived(Column("bytes of a call", head="mean", before="asked_bytes"))
    def mean_bytes(self) -> float:
        return self.asked_bytes / self.calls


def asked(answers: Answers) -> list[Asked]:
    """The analysis of the added table."""
    rows = answers.survey.rows.group_by("call").agg(asked_bytes=_.bytes.sum(), calls=_.count()).order_by("call")
    return [Asked(**row) for row in rows.filter(_.asked_bytes > 0).to_pyarrow().to_pylist()]


@dataclass(frozen=True)
class OneTableMore(ReportTables):
    """All tables, and one that is declared here."""

    asked: Annotated[
        list[Asked],
        Result("Bytes per function.", asked, printed=Printed("Asked for", note=lambda rows: "of all"), page="asked"),
    ]


@pytest.fixture
def tables(tmp_path: Path) -> OneTableMore:
    words = {"level": ["posix"] * 3, "call": ["pwrite", "pwrite", "read"], "kind": ["write", "write", "read"]}
    numbers = {"process": [0] * 3, "bytes": [100, 300, 50], "start_ns": [0, 20, 40], "duration_ns": [10] * 3}
    with DatasetWriter(tmp_path / "run", RunInfo("test", 10.0, None, None)) as writer:
        writer.write("processes", pa.table({"process": [0]}))
        writer.write("calls", pa.table(words | numbers))
    with Dataset.open(tmp_path / "run") as dataset:
        return computed(OneTableMore, Answers(dataset))


def test_a_declared_table_is_exported(tables: OneTableMore) -> None:
    assert json.loads(as_json(tables))["asked"] == [
        {"call": "pwrite", "asked_bytes": 400, "calls": 2, "mean_bytes": 200.0},
        {"call": "read", "asked_bytes": 50, "calls": 1, "mean_bytes": 50.0},
    ]


def test_a_declared_table_is_printed_with_its_columns_in_their_order(tables: OneTableMore) -> None:
    out = io.StringIO()
    print_run(tables, Console(file=out, width=100, highlight=False))
    lines = out.getvalue().splitlines()
    at = lines.index("Asked for")
    assert lines[at + 1] == "of all"
    rest = [line.split() for line in lines[at + 2 :] if line.strip(" ─")]
    assert rest[0] == ["function", "mean", "asked"]
    assert rest[1:3] == [["pwrite", "200", "B", "400", "B"], ["read", "50", "B", "50", "B"]]


def test_a_declared_table_is_on_the_page_but_for_columns_that_are_not(tables: OneTableMore) -> None:
    assert page_types(OneTableMore)["asked"] == list[Asked]
    told = plain(document_of(tables), page_names)["results"]["asked"]
    assert [set(row) for row in told] == [{"call", "asked_bytes", "mean_bytes"} for _one in tables.asked]


def test_a_declared_table_is_described() -> None:
    section = page(OneTableMore).split("\n## asked\n")[1]
    assert "Bytes per function. Shown in `--json`: list of Asked; terminal: *Asked for*; [page]" in section
    assert "| `asked_bytes` | whole number | bytes | asked | bytes that were asked for |" in section
    assert "| `mean_bytes` | number | bytes | mean | bytes of a call |" in section


def test_the_page_in_docs_is_up_to_date() -> None:
    committed = (ROOT / "docs/result-tables.md").read_text(encoding="utf-8")
    assert committed == page(), "run: python -m halcyon.observe.result_page > docs/result-tables.md"


def rows() -> list[type]:
    every = [row for kind, _result in results_of(ReportTables).values() for row in rows_in(kind) if row is not RunInfo]
    return list(dict.fromkeys(every))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.__name__)
def test_every_column_that_is_exported_is_declared(row: type) -> None:
    assert {one.name for one in columns_of(row)} == set(names_of(row))


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.__name__)
def test_a_unit_that_the_name_says_is_not_said_again(row: type) -> None:
    said = {one.name for one in columns_of(row) if one.column.unit is not None}
    assert not {name for name in said if Unit.of(name) == next(c for c in columns_of(row) if c.name == name).unit}


def test_every_result_of_a_run_is_declared() -> None:
    assert set(results_of(ReportTables)) == set(names_of(ReportTables))


def test_tables_that_are_drawn_specially_have_a_function_and_others_have_heads() -> None:
    every = results_of(ReportTables)
    assert {name for name, (_, result) in every.items() if result.printed is Drawn.SPECIALLY} == set(DRAWN)
    assert {name for name, (_, result) in every.items() if result.page is not None} > set(TAKEN)
    for name, (kind, result) in every.items():
        if isinstance(result.printed, Printed):
            assert any(one.column.head for row in rows_in(kind) for one in columns_of(row)), name


def test_columns_say_how_a_value_reads() -> None:
    row = TimeSpent("posix", "write", 1200, None, 0, 0.5, None, 0)
    assert {one.name: one.text(row) for one in columns_of(TimeSpent)} == {
        "level": "posix",
        "kind": "write",
        "calls": "1,200",
        "errors": "–",
        "bytes": "",
        "seconds": "500 ms",
        "self_s": "–",
        "waited_s": "",
    }
