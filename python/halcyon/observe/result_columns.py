"""How a result table is declared: its columns where its rows are, the table where all of them are (report_tables.py).

    @dataclass(frozen=True)
    class SizeBin:
        lower: Annotated[int, Column("smallest size, in bytes", head="from")]
        calls: Annotated[int, Column("reads or writes of such a size", head="calls")]

        @property
        @derived(Column("mean size", unit=Unit.BYTES))
        def mean(self) -> float: ...

    class ReportTables:
        sizes: Annotated[list[SizeBin], Result("Transfers by size.", lambda answers: sizes(answers.survey), printed=…)]

Everything that shows results follows from these two places: `--json`, the terminal (printed/), the page (viewer/) and
the reference (result_page.py).
"""

import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

from halcyon.quantities import ABSENT, count, number, percent, rate, seconds, size

Derived = TypeVar("Derived", bound=Callable[..., Any])
"""The function of a property."""


class Unit(StrEnum):
    """Of a column's values."""

    NONE = ""  # words, numbers of things
    SECONDS = "s"
    BYTES = "bytes"
    BYTES_PER_S = "bytes/s"
    PER_S = "1/s"
    SHARE = "of 1"
    RATIO = "times"

    @classmethod
    def of(cls, name: str) -> "Unit":
        """The unit that a column's name says."""
        words = name.split("_")
        if words[-1] in ("s", "seconds") or words[0] == "seconds":
            return cls.SECONDS
        if words[-1] in ("factor", "imbalance"):
            return cls.RATIO
        if words[-1] == "share":
            return cls.SHARE
        return cls.BYTES if "bytes" in words else cls.NONE

    def text(self, value: Any) -> str:
        """A value for people."""
        return ABSENT if value is None else _TEXTS[self](value)


def _plainly(value: Any) -> str:
    return count(value) if isinstance(value, int) else number(value) if isinstance(value, float) else str(value)


_TEXTS: dict[Unit, Callable[[Any], str]] = {
    Unit.NONE: _plainly,
    Unit.SECONDS: seconds,
    Unit.BYTES: size,
    Unit.BYTES_PER_S: rate,
    Unit.PER_S: number,
    Unit.SHARE: percent,
    Unit.RATIO: number,
}


@dataclass(frozen=True)
class Column:
    """A field or a property of a table's rows: its name, type and place are those of the attribute."""

    meaning: str
    unit: Unit | None = None
    """None: that which the name says."""
    head: str | None = None
    """Over the column in the terminal; None: the terminal does not show it."""
    shown: Callable[[Any], str] | None = None
    """The text of a value in the terminal; None: as its unit has it."""
    of_row: Callable[[Any], str] | None = None
    """The text of a row's value that depends on others of the row."""
    share_of: str | None = None
    """The column of which the terminal shows the share that this one is."""
    before: str | None = None
    """Of a property: the field in front of which the terminal shows it."""
    on_page: bool = True
    """Whether the page has it, where it has the table."""


@dataclass(frozen=True)
class Printed:
    """How the terminal shows a table whose columns have heads."""

    title: str
    words: int = 1
    """So many columns are text, the others numbers."""
    most: int | None = None
    """Rows at most; None: as many as other tables show."""
    rows: Callable[[Any], list[Any]] = list
    """The rows, of the table's value."""
    note: Callable[[Any], str] = lambda value: ""
    """A note under the title, of the table's value."""


class Drawn(StrEnum):
    """Instead of Printed: of tables that a function of their own prints."""

    SPECIALLY = "specially"


@dataclass(frozen=True)
class Result:
    """Something that is told of a run: a number, or a table."""

    meaning: str
    compute: Callable[[Any], Any]
    """From Answers."""
    printed: Printed | Drawn | None = None
    """None: the terminal does not show it."""
    page: str | None = None
    """Its name in the document of the viewer's page; None: the page has it elsewhere, or not."""


@dataclass(frozen=True)
class Described:
    """A column, with its name and type."""

    name: str
    type: Any
    column: Column

    @property
    def unit(self) -> Unit:
        return Unit.of(self.name) if self.column.unit is None else self.column.unit

    def text(self, row: Any) -> str:
        """A row's value for people."""
        if self.column.of_row is not None:
            return self.column.of_row(row)
        value = getattr(row, self.name)
        if self.column.share_of is not None:
            whole = getattr(row, self.column.share_of)
            return percent(value / whole) if whole else ABSENT
        return self.column.shown(value) if self.column.shown is not None else self.unit.text(value)


_COLUMN = "result_column"


def derived(column: Column) -> Callable[[Derived], Derived]:
    """Declares the property under it as a column."""

    def with_column(function: Derived) -> Derived:
        setattr(function, _COLUMN, column)
        return function

    return with_column


def columns_of(row: type) -> tuple[Described, ...]:
    """The columns of a row's class: fields and, where they stand before one of these or behind, properties."""
    return _columns_of(row)


@cache
def _columns_of(row: type) -> tuple[Described, ...]:
    hints = get_type_hints(row, include_extras=True)
    own = [_described(field.name, hints[field.name]) for field in fields(row)]
    found = [one for one in own if one is not None]
    for name in _properties(row):
        function = getattr(row, name).fget
        if (column := getattr(function, _COLUMN, None)) is not None:
            places = [at for at, other in enumerate(found) if other.name == column.before]
            one = Described(name, get_type_hints(function).get("return"), column)
            found.insert(places[0] if places else len(found), one)
    return tuple(found)


def _properties(row: type) -> Iterator[str]:
    """Public ones in the order of their definition, of base classes first."""
    seen = dict.fromkeys(name for base in reversed(row.__mro__) for name in vars(base))
    return (name for name in seen if not name.startswith("_") and isinstance(getattr(row, name, None), property))


def _described(name: str, hint: Any) -> Described | None:
    if get_origin(hint) is not Annotated:
        return None
    kind, *said = get_args(hint)
    column = next((one for one in said if isinstance(one, Column)), None)
    return Described(name, kind, column) if column is not None else None


def results_of(tables: type) -> dict[str, tuple[Any, Result]]:
    """All that is told of a run, by name and in its order: its type, and its declaration."""
    return _results_of(tables)


@cache
def _results_of(tables: type) -> dict[str, tuple[Any, Result]]:
    found: dict[str, tuple[Any, Result]] = {}
    hints = get_type_hints(tables, include_extras=True)
    for field in fields(tables):
        kind, *said = get_args(hints[field.name]) if get_origin(hints[field.name]) is Annotated else (None,)
        result = next((one for one in said if isinstance(one, Result)), None)
        if result is not None:
            found[field.name] = (kind, result)
    return found


def rows_in(hint: Any) -> tuple[type, ...]:
    """The classes of rows in a type, those of rows within rows behind: SizeBin of list[SizeBin]."""
    if get_origin(hint) is Annotated:
        return rows_in(get_args(hint)[0])
    if isinstance(hint, type) and not isinstance(hint, types.GenericAlias) and is_dataclass(hint):
        inner = get_type_hints(hint, include_extras=True)
        each = [row for field in fields(hint) for row in rows_in(inner[field.name])]
        return tuple(dict.fromkeys([hint, *each]))
    return tuple(dict.fromkeys(row for part in get_args(hint) for row in rows_in(part)))
