"""The page: what Python writes is what TypeScript expects, and what belongs to no HTML does not break it."""

import json
import re
import types
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import pytest

from halcyon.errors import HalcyonSystemError, UnavailableError
from halcyon.observe.analysis.phase_sketch import SLOWEST, spread
from halcyon.observe.dataset import Dataset
from halcyon.observe.report_tables import report_tables
from halcyon.observe.result_columns import rows_in
from halcyon.observe.viewer import Document, document, page, render, write_page
from halcyon.observe.viewer.tables import _ranges, page_types

ROOT = Path(__file__).parents[4]


def _interfaces() -> dict[str, dict[str, str]]:
    """The interfaces of data.ts and predictability.ts: their fields with their types."""
    text = "".join((ROOT / "web/src" / name).read_text() for name in ("data.ts", "predictability.ts"))
    return {
        name: dict(re.findall(r"^    (\w+): (.+);$", body, re.MULTILINE))
        for name, body in re.findall(r"export interface (\w+) \{(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    }


def _in_typescript(kind: Any) -> str:
    """A type of Python, as data.ts writes it."""
    if get_origin(kind) is Annotated:
        return _in_typescript(get_args(kind)[0])
    if get_origin(kind) is types.UnionType:
        return " | ".join(_in_typescript(part) for part in get_args(kind))
    if get_origin(kind) is list:
        return f"{_in_typescript(get_args(kind)[0])}[]"
    if get_origin(kind) is dict:
        return f"Record<string, {_in_typescript(get_args(kind)[1])}>"
    plain = {int: "number", float: "number", str: "string", bool: "boolean", type(None): "null"}
    return plain.get(kind, kind.__name__)


def _declared(kind: type) -> dict[str, str]:
    """The fields and properties of a class that a page has, with their types in TypeScript."""
    hints = get_type_hints(kind, include_extras=True)
    properties = {
        name: get_type_hints(getattr(kind, name).fget)["return"] for name in page.page_names(kind) if name not in hints
    }
    return {name: _in_typescript((hints | properties)[name]) for name in page.page_names(kind)}


def _expected() -> dict[str, dict[str, str]]:
    """The interfaces that follow from the declaration of the tables and from document.py."""
    whole = _declared(Document)
    del whole["results"]
    results = page_types()
    kinds = [kind for each in (get_type_hints(Document) | results).values() for kind in rows_in(each)]
    expected = {kind.__name__: _declared(kind) for kind in kinds}
    return expected | {"Document": whole | {name: _in_typescript(kind) for name, kind in results.items()}}


def test_python_and_typescript_declare_the_same_fields() -> None:
    theirs, own = _interfaces(), _expected()
    assert {name: set(each) for name, each in theirs.items()} == {name: set(each) for name, each in own.items()}
    version = re.search(r"VERSION = (\d+)", (ROOT / "web/src/data.ts").read_text())
    assert version is not None
    assert int(version[1]) == document.VERSION


def test_python_and_typescript_declare_the_same_types() -> None:
    """Where TypeScript names the words that a text may be, Python says that it is a text."""
    own = _expected()
    theirs = {
        name: {field: re.sub(r'^"\w[\w-]*"( \| "\w[\w-]*")*$', "string", kind) for field, kind in each.items()}
        for name, each in _interfaces().items()
    }
    assert theirs == {name: {field: own[name][field] for field in each} for name, each in theirs.items()}


@pytest.fixture
def template(monkeypatch: pytest.MonkeyPatch) -> None:
    """A viewer that is built within no time."""
    monkeypatch.setattr(page, "template", lambda: f"<html>{page.MARK}</html>")


def _document(text: str) -> dict[str, object]:
    found = re.search(r'id="halcyon-document">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    loaded: dict[str, object] = json.loads(found[1])
    return loaded


def _run(title: str) -> document.Run:
    return document.Run(title, "test", None, None, None, None, float("nan"), None, 0, None, 0, 0)


@pytest.mark.usefixtures("template")
def test_names_that_look_like_html_do_not_end_the_script(tmp_path: Path) -> None:
    output = tmp_path / "page.html"
    size = write_page(Document(_run("</script><script>alert(1)</script><!--")), None, output)
    text = output.read_text("utf-8")
    assert size == len(text.encode())
    assert text.count("</script>") == 2
    run = _document(text)["run"]
    assert isinstance(run, dict)
    assert run["title"] == "</script><script>alert(1)</script><!--"
    assert run["duration_s"] is None  # not NaN, which JSON does not know
    assert list(tmp_path.iterdir()) == [output]


@pytest.mark.usefixtures("template")
def test_a_data_set_becomes_a_page_with_its_tables_and_calls(small_dataset: Path, tmp_path: Path) -> None:
    with Dataset.open(small_dataset) as dataset:
        render(dataset, report_tables(dataset), tmp_path / "page.html")
        render(dataset, report_tables(dataset), tmp_path / "again.html")
    text = (tmp_path / "page.html").read_text("utf-8")
    told = _document(text)
    assert told["run"]["calls"] == 4  # type: ignore[index]
    assert told["run"]["command"] == "./app --größe 1"  # type: ignore[index]
    assert [file["path"] for file in told["files"]] == ["/a", "/b"]  # type: ignore[attr-defined]
    assert told["timeline"]["without_times"] == 4  # type: ignore[index]
    assert (tmp_path / "again.html").read_text("utf-8") == text


@pytest.mark.usefixtures("template")
def test_a_page_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(HalcyonSystemError, match="nowhere"):
        write_page(Document(_run("x")), None, tmp_path / "nowhere" / "page.html")


def test_a_viewer_that_was_not_built_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(page, "TEMPLATE", "absent.html")
    with pytest.raises(UnavailableError, match="the viewer was not built"):
        write_page(Document(_run("x")), None, tmp_path / "page.html")


def test_of_many_ranks_the_slowest_stay_and_the_others_arespread() -> None:
    order = list(range(10_000))
    kept = spread(order, 200)
    assert len(kept) == 200
    assert kept[-SLOWEST:] == order[-SLOWEST:]
    assert kept[0] == 0
    steps = {b - a for a, b in pairwise(kept[:-SLOWEST])}
    assert max(steps) - min(steps) <= 1
    assert spread(order[:50], 200) == order[:50]


def test_ranks_are_told_as_ranges() -> None:
    assert _ranges([3, 1, 2, 7]) == "1–3, 7"
    assert _ranges([]) == ""
    assert _ranges(range(0, 20, 2)) == "0, 2, 4, 6, 8, 10 and 4 more"
