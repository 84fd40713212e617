"""What a forecast says is declared in halcyon.h; C++, Fortran and Python have the same members in the same order."""

import re
from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from halcyon.client import ExpectedAccess, Forecast, Operation
from halcyon.predict.grammar_picture import OPERATIONS as COLOURS
from halcyon.predict.streams import OPERATIONS

ROOT = Path(__file__).resolve().parents[3]
HEADER = (ROOT / "include/halcyon/halcyon.h").read_text(encoding="utf-8")
FORTRAN = (ROOT / "fortran/halcyon.F90").read_text(encoding="utf-8")


def members(struct: str) -> dict[str, str]:
    """Of a struct of halcyon.h, with their types."""
    body = re.search(rf"typedef struct {struct} {{(.*?)}} {struct};", HEADER, re.DOTALL)
    assert body is not None
    plain = re.sub(r"/\*.*?\*/", "", body[1], flags=re.DOTALL)
    found = re.findall(r"([\w ]+?[\s*]+)(\w+)(\[\w+\])?\s*;", plain)
    return {name: "".join(kind.split()) + ("[]" if length else "") for kind, name, length in found}


def components(fortran_type: str) -> dict[str, str]:
    """Of a type of the Fortran module, with their types."""
    body = re.search(rf"type(?:, bind\(c\))? :: {fortran_type}\n(.*?)end type", FORTRAN, re.DOTALL)
    assert body is not None
    found = {}
    for kind, _attributes, names in re.findall(
        r"^\s*(\w+\([^)]*\)|\w+)(, \w+)* :: (.+)$", joined(body[1]), re.MULTILINE
    ):
        for name in re.sub(r"\([^)]*\)", "", names).split(","):
            found[name.split("=")[0].strip()] = kind
    return found


def joined(text: str) -> str:
    """Without continuation lines."""
    return re.sub(r"&\s*\n\s*", "", text)


SAME_LAYOUT = {
    "int": "integer(c_int)",
    "halcyon_operation": "integer(c_int)",
    "int64_t": "integer(c_int64_t)",
    "uint64_t": "integer(c_int64_t)",
    "double": "real(c_double)",
    "char[]": "character(kind=c_char)",
    "halcyon_expected_access*": "type(c_ptr)",
}
"""Fortran's type of a member."""


@pytest.mark.parametrize(
    ("struct", "bound"),
    [
        ("halcyon_expected_access", "c_access"),
        ("halcyon_forecast_t", "c_forecast"),
        ("halcyon_stats_t", "halcyon_stats_t"),
    ],
)
def test_fortran_lays_out_what_c_fills_in(struct: str, bound: str) -> None:
    expected = {name: SAME_LAYOUT[kind] for name, kind in members(struct).items()}
    assert list(components(bound).items()) == list(expected.items())


@pytest.mark.parametrize(
    ("struct", "public", "left_out"),
    [
        ("halcyon_expected_access", "halcyon_expected_access", set()),
        ("halcyon_forecast_t", "halcyon_forecast_t", {"size_bytes", "accesses", "capacity"}),
    ],
)
def test_fortran_shows_what_c_says(struct: str, public: str, left_out: set[str]) -> None:
    assert list(components(public)) == [name for name in members(struct) if name not in left_out]


def test_python_shows_what_c_says() -> None:
    assert {field.name for field in fields(ExpectedAccess)} == set(members("halcyon_expected_access"))
    own = {"size_bytes", "capacity", "count"}  # a list knows its length
    assert {field.name for field in fields(Forecast)} == set(members("halcyon_forecast_t")) - own


def test_the_binding_hands_over_every_member() -> None:
    binding = (ROOT / "src/programs/python/client.cpp").read_text(encoding="utf-8")
    assert re.findall(r'\bto\["(\w+)"\] =', binding) == list(members("halcyon_expected_access"))
    whole = [name for name in members("halcyon_forecast_t") if name not in ("size_bytes", "capacity", "count")]
    assert re.findall(r'\bwhole\["(\w+)"\] =', binding) == whole


def test_operations_have_the_same_names_and_numbers_everywhere() -> None:
    in_c = [
        name.lower()
        for name in re.findall(r"HALCYON_ACCESS_(\w+)", enumeration(HEADER, "typedef enum halcyon_operation"))
    ]
    policy = (ROOT / "src/policy/forecast.hpp").read_text(encoding="utf-8")
    binding = (ROOT / "src/programs/python/client.cpp").read_text(encoding="utf-8")
    fortran = re.findall(r"HALCYON_ACCESS_(\w+) = (\d)", joined(FORTRAN))
    assert in_c == ["open", "close", "read", "write", "copy", "sync"]
    assert re.findall(r"\w+", enumeration(policy, "enum class operation : uint8_t")) == in_c
    assert re.findall(r'"(\w+)"', enumeration(binding, "operations =")) == in_c
    assert fortran == [(name.upper(), str(number)) for number, name in enumerate(in_c)]
    assert list(get_args(Operation)) == in_c
    assert [str(kind) for kind in OPERATIONS] == in_c
    assert set(COLOURS) == set(in_c)


def enumeration(text: str, begin: str) -> str:
    """What stands in the braces behind `begin`."""
    return re.sub(r"/\*.*?\*/", "", text.split(begin)[1].split("{")[1].split("}")[0], flags=re.DOTALL)
