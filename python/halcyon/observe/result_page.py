"""Writes the reference page of result tables from report_tables.py and the rows that it names.

python -m halcyon.observe.result_page > docs/result-tables.md
"""

import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Union, get_args, get_origin

from halcyon.observe.report_tables import ReportTables
from halcyon.observe.result_columns import Printed, Result, Unit, columns_of, results_of, rows_in

INTRODUCTION = """\
# Result tables

<!-- Written by `python -m halcyon.observe.result_page`; change observe/report_tables.py or its rows instead. -->

`halcyon analyze --json RUN` prints everything that is known of one run as one JSON object; in Python, `report_tables`
returns the same. This page lists its values, its tables and their columns; [Analysis](analysis.md) has the methods.
Times are seconds since the run's start; null means that the source does not tell. *terminal* is the head under which
`halcyon analyze` prints a column; some tables are printed in other forms.

## Values

| name | type | unit | meaning |
|---|---|---|---|"""

_NAMES = {int: "whole number", float: "number", str: "text", bool: "true or false", type(None): "null", Path: "text"}


def type_name(kind: Any) -> str:
    """A type in words: `list of text`, `number or null`."""
    if get_origin(kind) in (Union, types.UnionType):
        return " or ".join(type_name(part) for part in get_args(kind))
    if get_origin(kind) is list:
        return f"list of {type_name(get_args(kind)[0])}"
    if get_origin(kind) is dict:
        return f"{type_name(get_args(kind)[1])} for each name"
    return _NAMES.get(kind) or str(kind.__name__)


def page(tables: type[ReportTables] = ReportTables) -> str:
    """The whole page as Markdown."""
    every = results_of(tables)
    lines = [INTRODUCTION]
    for name, (kind, result) in every.items():
        if not rows_in(kind) or not columns_of(rows_in(kind)[0]):
            lines.append(_value(name, kind, result))
    described: set[type] = set()
    for name, (kind, result) in every.items():
        rows = [row for row in rows_in(kind) if columns_of(row)]
        if rows:
            lines += _table(name, kind, result)
            for row in rows:
                lines += _row(row, described)
    return "\n".join(lines) + "\n"


def _value(name: str, kind: Any, result: Result) -> str:
    return f"| `{name}` | {type_name(kind)} | {Unit.of(name)} | {result.meaning} |"


def _table(name: str, kind: Any, result: Result) -> Iterator[str]:
    yield f"\n## {name}\n"
    shown = [f"`--json`: {type_name(kind)}"]
    if isinstance(result.printed, Printed):
        shown.append(f"terminal: *{result.printed.title}*")
    elif result.printed is not None:
        shown.append("terminal")
    if result.page is not None:
        shown.append(f"[page](viewer.md): `{result.page}`")
    yield f"{result.meaning} Shown in {'; '.join(shown)}."


def _row(row: type, described: set[type]) -> Iterator[str]:
    if row in described:
        yield f"\n{row.__name__}: see above."
        return
    described.add(row)
    yield f"\n{row.__name__}:\n"
    yield "| column | type | unit | terminal | meaning |"
    yield "|---|---|---|---|---|"
    for one in columns_of(row):
        head = one.column.head or ""
        yield f"| `{one.name}` | {type_name(one.type)} | {one.unit} | {head} | {one.column.meaning} |"


if __name__ == "__main__":
    sys.stdout.write(page())
