"""Writes the page: the template that web/ is built into, with the document and the calls put in."""

import dataclasses
import json
from importlib.resources import files
from pathlib import Path
from typing import Any, get_origin

from halcyon.errors import UnavailableError
from halcyon.observe.dataset import Dataset
from halcyon.observe.report_tables import ReportTables
from halcyon.observe.result_columns import columns_of
from halcyon.observe.viewer import columns
from halcyon.observe.viewer.document import Document
from halcyon.observe.viewer.tables import document_of, page_types
from halcyon.observe.viewer.timeline import Calls, read_timeline
from halcyon.predict.page import Predictability
from halcyon.printed.plain import names_of, plain
from halcyon.whole_file import whole_file

TEMPLATE = "viewer.html"
MARK = "<!-- halcyon: data -->"
"""Where the template takes the data; it is there once."""


def render(dataset: Dataset, tables: ReportTables, output: Path, predictability: Predictability | None = None) -> int:
    """Writes the page of a data set, of which `tables` were made, and returns its size in bytes.

    `predictability`: what halcyon.predict.page found of it, for the view of that name. Errors: see write_page.
    """
    calls = read_timeline(dataset)
    document = dataclasses.replace(document_of(tables), timeline=calls.timeline, predictability=predictability)
    return write_page(document, calls, output)


def write_page(document: Document, calls: Calls | None, output: Path) -> int:
    """Writes the page of a document whose timeline, if it has one, lies in `calls`; returns its size in bytes.

    The page appears under its name only when it is complete; the same data gives the same bytes. Raises
    UnavailableError when the viewer was not built, HalcyonSystemError when the file cannot be written.
    """
    before, _, after = template().partition(MARK)
    text = "".join(
        [
            before,
            '<script type="application/json" id="halcyon-document">',
            _json(document),
            "</script>\n",
            '<script type="text/plain" id="halcyon-columns">',
            columns.encode(calls.columns) if calls is not None else "",
            "</script>",
            after,
        ]
    )
    with whole_file(output) as hidden:
        return hidden.write_bytes(text.encode())


def template() -> str:
    """The built viewer, without data. Raises UnavailableError when it was not built."""
    try:
        text = (files("halcyon.observe.viewer") / TEMPLATE).read_text("utf-8")
    except FileNotFoundError as why:
        raise UnavailableError(
            f"the viewer was not built: {why.filename} is missing; `make build` builds it (needs node and npm)"
        ) from why
    if text.count(MARK) != 1:
        raise UnavailableError(
            f"{TEMPLATE} has {text.count(MARK)} places for data, not 1; `make build` builds it anew from web/"
        )
    return text


def _json(document: Document) -> str:
    """JSON that may stand inside a script element: no `<`, and no NaN, which JSON does not know."""
    told = plain(document, page_names)
    told = empty_results() | told.pop("results") | told
    text = json.dumps(_rounded(told), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c")


def page_names(kind: type) -> tuple[str, ...]:
    """As names_of, without columns that the page does not have."""
    left_out = {one.name for one in columns_of(kind) if not one.column.on_page}
    return tuple(name for name in names_of(kind) if name not in left_out)


def empty_results() -> dict[str, Any]:
    """The tables of a page that is of no single run."""
    return {name: [] if get_origin(kind) is list else None for name, kind in page_types().items()}


def _rounded(value: object) -> object:
    """The same with twelve digits of each number."""
    if isinstance(value, float):
        return float(f"{value:.12g}")
    if isinstance(value, dict):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return value
