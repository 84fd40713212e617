"""Each function of the C interface says when it blocks and which errors it returns; the bindings list the same."""

import inspect
import re
from pathlib import Path
from types import FunctionType

import pytest

from halcyon import client, errors, turns

ROOT = Path(__file__).resolve().parents[3]
PUBLIC = ("halcyon.h", "io.h", "logfs.h")
HEADERS = {name: (ROOT / "include/halcyon" / name).read_text(encoding="utf-8") for name in PUBLIC}
HEADER = "\n".join(HEADERS.values())
ERRORS = (ROOT / "include/halcyon/errors.h").read_text(encoding="utf-8")
CPP = (ROOT / "include/halcyon/halcyon.hpp").read_text(encoding="utf-8")
CPP_LOGS = (ROOT / "include/halcyon/logfs.hpp").read_text(encoding="utf-8")
FORTRAN = (ROOT / "fortran/halcyon.F90").read_text(encoding="utf-8")
FORTRAN_TURNS = (ROOT / "fortran/halcyon_turns.f90").read_text(encoding="utf-8")

# The kinds by the names that the bindings use, in their order.
KINDS = [kind.lower() for kind in re.findall(r"HALCYON_ERROR_(\w+) = ", ERRORS)]
PYTHON_KINDS = {errors.BY_CODE[code].__name__: kind for code, kind in enumerate(KINDS, start=1)}


def declared(header: str = HEADER) -> dict[str, str]:
    """Every function that returns a code, with the comment right above it."""
    found = re.findall(r"(?:/\*\*((?:(?!\*/).)*)\*/\n)?HALCYON_API int (\w+)\(", header, re.DOTALL)
    return {name: re.sub(r"\n \* ?", "\n", comment) for comment, name in found}


def alike(comment: str) -> str | None:
    """The function that the comment refers to for its errors."""
    found = re.search(r"Blocks and\s+fails\s+as\s+(halcyon_\w+)\s+does", comment)
    return found[1] if found else None


def kinds(name: str) -> list[str]:
    """The kinds of errors that its header lists for a function, in the order of their numbers."""
    comment = declared()[name]
    listed = {kind.lower() for kind in re.findall(r"@retval HALCYON_ERROR_(\w+) \S", comment)}
    other = alike(comment)
    return [kind for kind in KINDS if kind in listed or (other is not None and kind in kinds(other))]


def test_no_function_is_overlooked() -> None:
    assert len(declared()) == len(re.findall(r"^HALCYON_API int ", HEADER, re.MULTILINE))
    known = {"halcyon_open", "halcyon_write", "halcyon_wait", "halcyon_io_wait", "halcyon_logfs_open"}
    assert known <= declared().keys()
    assert KINDS == ["config", "usage", "system", "unavailable", "internal"]


@pytest.mark.parametrize("name", declared())
def test_a_function_says_which_errors_it_returns_and_when_it_blocks(name: str) -> None:
    comment = declared()[name]
    assert kinds(name), f"{name} lists no @retval HALCYON_ERROR_…"
    assert alike(comment) or re.search(r"\bBlocks:\s", comment), f"{name} does not say when it blocks"


@pytest.mark.parametrize("level", ["ACCEPTED", "STORED", "DURABLE"])
def test_wait_says_what_each_stage_means_without_a_server(level: str) -> None:
    without = declared()["halcyon_wait"].split("When no server is left", 1)[1].split("@retval")[0]
    assert re.search(rf"^- HALCYON_{level} \w", without, re.MULTILINE)


def lists_of_errors(text: str, comment_sign: str) -> list[tuple[list[str], str]]:
    """What the comments of a binding list: the kinds of errors, and the C function that they come from."""
    lines = re.findall(rf"^\s*{comment_sign} Errors: (.*) \((\w+)\)\.$", text, re.MULTILINE)
    return [(listed.split(", "), name) for listed, name in lines]


@pytest.mark.parametrize(
    ("text", "comment_sign", "header"),
    [
        (CPP, "///", "halcyon.h"),
        (CPP_LOGS, "///", "logfs.h"),
        (FORTRAN, "!>", "halcyon.h"),
        (FORTRAN_TURNS, "!>", "io.h"),
    ],
    ids=["C++", "C++'s logs", "Fortran", "Fortran's turns"],
)
def test_a_binding_lists_the_errors_of_the_functions_it_calls(text: str, comment_sign: str, header: str) -> None:
    listed = lists_of_errors(text, comment_sign)
    for found, name in listed:
        assert found == kinds(name), f"as {name}"
    # Each of them stands for those that only check less.
    wrapped = declared(HEADERS[header]).keys() - {
        "halcyon_open_f",
        "halcyon_write",
        "halcyon_write_block",
        "halcyon_describe",
    }
    assert {name for _, name in listed} == wrapped


C_OF_PYTHON = (
    {
        client.Session: "halcyon_open",
        client.Session.write: "halcyon_write_bytes",
        client.next_accesses: "halcyon_forecast",
        client.accesses_within: "halcyon_forecast_window",
    }
    | {
        method: f"halcyon_{name}"
        for name, method in inspect.getmembers(client.Session, inspect.isfunction)
        if not name.startswith("_") and name != "write"
    }
    | {turns.Turns: "halcyon_io_init"}
    | {
        method: f"halcyon_io_{name}"
        for name, method in inspect.getmembers(turns.Turns, inspect.isfunction)
        if not name.startswith("_") and name != "phase"
    }
)


@pytest.mark.parametrize(("call", "name"), C_OF_PYTHON.items(), ids=lambda x: getattr(x, "__name__", x))
def test_python_raises_what_c_returns(call: type | FunctionType, name: str) -> None:
    raised = re.findall(r"^    (\w+Error): \S", inspect.getdoc(call) or "", re.MULTILINE)
    assert [PYTHON_KINDS[error] for error in raised] == kinds(name)
