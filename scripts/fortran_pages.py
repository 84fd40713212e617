"""Turns the Fortran module into one Markdown page: every public name with its comment and its declaration."""

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

_COMMENT = re.compile(r"^\s*!> ?(.*)$")
_INCLUDED = re.compile(r'^#define ALLOC (\w+)\n#define ELEMENT (.+)\n#include "(.+)"$', re.MULTILINE)


@dataclass(frozen=True)
class _Declared:
    """A public name: the comment above it, and its declaration (of a generic, that of each specific procedure)."""

    comment: str
    declarations: list[list[str]]


def _source(module: Path) -> list[str]:
    """The lines of the module after its preprocessor, as far as this one uses it."""

    def included(found: re.Match[str]) -> str:
        name, element, file = found.groups()
        text = (module.parent / file).read_text(encoding="utf-8")
        return re.sub(r"\bELEMENT\b", element, re.sub(r"\bALLOC\b", name, text))

    text = _INCLUDED.sub(included, module.read_text(encoding="utf-8"))
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"&\s*\n\s*&?", "", text).splitlines()


def _comment_above(lines: list[str], at: int) -> str:
    found: list[str] = []
    while at > 0 and (comment := _COMMENT.match(lines[at - 1])):
        found.insert(0, comment[1])
        at -= 1
    return "\n".join(found)


def _declaration(lines: list[str], at: int) -> list[str]:
    """A procedure's first line and its arguments', or a whole derived type."""
    first = lines[at].strip()
    taken = [first]
    for line in lines[at + 1 :]:
        stripped = line.strip()
        if first.startswith("type"):
            if stripped == "end type":
                return [*taken, stripped]
            wrapped = textwrap.wrap(stripped, 80, initial_indent="    ", subsequent_indent=" " * 8)
            taken += [part + " &" for part in wrapped[:-1]] + wrapped[-1:]
        elif not stripped or stripped == "interface":
            break
        else:
            taken.append("    " + stripped)
    return taken


def _declared(lines: list[str], name: str) -> _Declared:
    procedure = re.compile(rf"^\s*(?:subroutine|function) {name}\(")
    for at, line in enumerate(lines):
        if procedure.match(line) or re.match(rf"^\s*type(?:, .*)? :: {name}$", line):
            return _Declared(_comment_above(lines, at), [_declaration(lines, at)])
        if re.match(rf"^\s*interface {name}$", line):
            specific: list[str] = []
            for inside in lines[at + 1 :]:
                if inside.strip() == "end interface":
                    break
                specific += re.split(r",\s*", inside.strip().removeprefix("module procedure "))
            found = [_declared(lines, one).declarations[0] for one in specific]
            named = [[re.sub(rf"\b{one}\b", name, d[0]), *d[1:]] for one, d in zip(specific, found, strict=True)]
            return _Declared(_comment_above(lines, at), named)
    raise LookupError(f"the Fortran module says that {name} is public and does not declare it")


def _public_names(lines: list[str]) -> list[str]:
    listed = (line.split("::")[1] for line in lines if line.strip().startswith("public ::"))
    return [name for names in listed for name in re.split(r",\s*", names.strip())]


def _text(comment: str) -> str:
    """`name(arguments): what it does` begins with code."""
    plain = comment.replace("*", "\\*")
    return re.sub(r"^(halcyon_\w+\([^:\n]*\))", r"`\1`", plain)


def page(module: Path) -> str:
    """The page of `module`. LookupError: a public name is not declared, or has no comment."""
    lines = _source(module)
    begin = next(at for at, line in enumerate(lines) if line.startswith("module "))
    out = [f"# Fortran: use {module.stem}", "", _text(_comment_above(lines, begin)), ""]
    out += ["## Constants", "", "```fortran"]
    for line in lines:
        if re.match(r"^\s*integer, parameter, public ::", line):
            names = re.split(r",\s*(?=HALCYON)", line.split("::")[1].strip())
            out += [f"integer, parameter :: {name}" for name in names]
    out += ["```", ""]
    for name in _public_names(lines):
        found = _declared(lines, name)
        if not found.comment:
            raise LookupError(f"{module.name}: {name} is public and has no comment")
        out += [f"## {name}", "", "```fortran", *found.declarations[0], "```", "", _text(found.comment), ""]
        first = set(found.declarations[0])
        others = [line.strip() for other in found.declarations[1:] for line in other if line not in first]
        if others:
            out += ["Also with:", "", *(f"- `{line}`" for line in others), ""]
    return "\n".join(out)
