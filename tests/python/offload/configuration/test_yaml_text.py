"""What is written as YAML is read back as the same values."""

import pytest
import yaml

from halcyon.offload.damaris_xml.yaml_text import Value, scalar, write


@pytest.mark.parametrize(
    "text",
    ["yes", "true", "null", "~", "", " a", "a ", "1", "0x1F", "1e5", ".5", "a: b", "a #b", "[a", "- a", "*a", "&a", "é",
     "a\nb", 'q"q', "\\", "nx/px + 2", "(rank % px) * 2", "%a", "!x", "°C", "m s-1", "a,b", "a}", "2026-01-01", "\x85"],
)  # fmt: skip
def test_every_text_stays_a_text(text: str) -> None:
    assert yaml.safe_load(f"{{k: {scalar(text)}}}") == {"k": text}
    assert yaml.safe_load(write({text or "k": text})) == {text or "k": text}


def test_expressions_and_names_need_no_quotes() -> None:
    assert scalar("nx/px + 2") == "nx/px + 2"
    assert scalar("m s-1") == "m s-1"


def test_maps_and_lists_are_read_back() -> None:
    document: dict[str, Value] = {
        "number": 1.5,
        "truth": True,
        "list": [1, "a, b", [2, "min(a, b)"]],
        "empty": {},
        "inner": {"a": {"b": {"c": "d"}}, "long": {f"key{i}": "x" * 20 for i in range(9)}},
    }
    assert yaml.safe_load(write(document)) == document


def test_a_small_map_is_one_line() -> None:
    assert write({"layouts": {"grid": {"type": "float32", "dimensions": ["nz", 4]}}}) == (
        "layouts:\n  grid: {type: float32, dimensions: [nz, 4]}\n"
    )
