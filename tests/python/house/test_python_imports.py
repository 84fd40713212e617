"""Turns and Δ-graphs need nothing of observe but the names in a trace: what several modules share lies beside them."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[3] / "python/halcyon"
OF_OBSERVE = {"coordinate": set[str](), "delta": {"halcyon.observe.call_words"}}


def imported(source: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {one.name for one in node.names}
    return found


@pytest.mark.parametrize("room", OF_OBSERVE)
def test_a_room_uses_of_observe_only_what_it_may(room: str) -> None:
    sources = sorted((PACKAGE / room).rglob("*.py"))
    assert sources
    used = {name for source in sources for name in imported(source.read_text(encoding="utf-8"))}
    assert {name for name in used if name.startswith("halcyon.observe")} <= OF_OBSERVE[room]


def test_imports_within_functions_are_found() -> None:
    source = "def f():\n    from halcyon.observe.pack import pack\n    import os\n"
    assert imported(source) == {"halcyon.observe.pack", "os"}
