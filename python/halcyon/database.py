"""DuckDB through Ibis, which makes SQL of equal questions once in a process.

All data sets are asked the same questions, some eighty for a report. To put one together takes Ibis milliseconds, to
make SQL of it tens of them; DuckDB answers it within one or two.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, wraps
from itertools import count
from typing import Any, TypeAlias

import ibis
import ibis.expr.datashape as ds
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import pyarrow as pa
import sqlglot.expressions as sge
from ibis.backends.duckdb import Backend
from ibis.backends.duckdb.converter import DuckDBPyArrowData
from ibis.backends.sql.compilers.duckdb import DuckDBCompiler
from ibis.common.graph import Node

from halcyon.errors import InternalError

MOST = 512
"""Statements that are known at a time: those that were used last."""

_PLACE = object()


@dataclass(frozen=True)
class Given:
    """A whole number that differs from data set to data set, such as the width of a step: the question is the same, and
    gets it as an expression."""

    number: int


class GivenPlace(ops.Value):  # type: ignore[misc]
    """Stands for the Given of this number, from 0 on."""

    number: int

    dtype = dt.int64
    shape = ds.scalar


class Compiler(DuckDBCompiler):  # type: ignore[misc]
    """Ibis' own, where what is Given is a parameter of DuckDB's."""

    def visit_GivenPlace(self, op: GivenPlace, *, number: int) -> Any:  # noqa: N802  Ibis looks for the name
        return self.cast(sge.Parameter(this=sge.to_identifier(_name_of_given(number))), dt.int64)


def _name_of_given(number: int) -> str:
    return f"given_{number}"


@dataclass(frozen=True)
class Prepared:
    """SQL, the columns of its answer, and its parameters."""

    text: str
    columns: Any
    given: dict[str, int]


@dataclass(frozen=True)
class Statement:
    """SQL, the columns of its answer, the names of the tables in memory that it was made for (each is new, and stands
    nowhere else), and which of what is Given it needs."""

    text: str
    columns: Any
    in_memory: list[str]
    given: tuple[int, ...]

    def about(self, in_memory: list[str], numbers: list[int]) -> Prepared:
        """The same of other tables and numbers."""
        text = self.text
        for known, wanted in zip(self.in_memory, in_memory, strict=True):
            text = text.replace(known, wanted)
        return Prepared(text, self.columns, {_name_of_given(at): numbers[at] for at in self.given})


_known: OrderedDict[tuple[object, ...], Statement] = OrderedDict()


@dataclass(frozen=True)
class Question:
    """What is asked, and of whom."""

    parts: tuple[object, ...]
    """Equal where the statements are, but for the names of tables in memory and what is Given; they keep neither
    connections nor rows."""
    in_memory: list[Any]
    """The tables in memory: operations of Ibis."""
    numbers: list[int]
    """Of what is Given, in its order."""
    source: Any
    """The database; None: only of rows in memory."""


def question(make: Callable[..., ibis.Table]) -> Callable[..., "Asked"]:
    """Of a function that makes a table of tables and plain values: it is called only where its question is new.

    `make` follows from what it is given alone, and makes no tables in memory.
    """

    @wraps(make)
    def asked(*about: Any) -> Asked:
        return Asked(make, about)

    return asked


class Asked:
    """The table that `make` makes of `about`: tables (others of these, too), numbers, words, and tuples of them.

    `to_pyarrow()` answers it. Where tables of the same names and columns were asked the same before, Ibis has nothing
    to do.
    """

    def __init__(self, make: Callable[..., ibis.Table], about: tuple[Any, ...]) -> None:
        self._make = make
        self._about = about

    @cached_property
    def table(self) -> ibis.Table:
        """As an expression of Ibis."""
        return self._made_of(ibis.literal(number, "int64") for number in self.asked.numbers)

    def to_pyarrow(self) -> pa.Table:
        """Its rows."""
        database = _for_memory() if self.asked.source is None else self.asked.source
        return database.rows_of(self) if isinstance(database, Database) else self.table.to_pyarrow()

    @cached_property
    def asked(self) -> Question:
        """What to look it up by."""
        parts: list[object] = [self._make]
        in_memory: dict[Any, int] = {}
        numbers: list[int] = []
        source: Any = None
        for one in self._about:
            if isinstance(one, (Asked, ibis.Expr)):
                its = one.asked if isinstance(one, Asked) else question_of(one.op())
                parts.append((its.parts, *(in_memory.setdefault(table, len(in_memory)) for table in its.in_memory)))
                numbers += its.numbers
                source = its.source if source is None else source
            elif isinstance(one, Given):
                parts.append(Given)
                numbers.append(one.number)
            else:
                parts.append(_typed(one))
        return Question(tuple(parts), list(in_memory), numbers, source)

    def statement(self) -> ibis.Table:
        """The expression that stands for all that differ in what is Given alone.

        InternalError: it is about more than it was asked about.
        """
        made = self._made_of(GivenPlace(number).to_expr() for number in count())
        if set(question_of(made.op()).in_memory) - set(self.asked.in_memory):
            raise InternalError(f"question {self._make.__name__}: it makes tables in memory of its own")
        return made

    def _made_of(self, given: Iterator[ibis.Value]) -> ibis.Table:
        def part(one: Any) -> Any:
            if isinstance(one, Given):
                return next(given)
            return one._made_of(given) if isinstance(one, Asked) else one

        return self._make(*(part(one) for one in self._about))


Rows: TypeAlias = ibis.Table | Asked
"""What a question can be about."""


def _typed(value: object) -> object:
    """1, 1.0 and True are not the same in SQL."""
    return tuple(_typed(each) for each in value) if isinstance(value, tuple) else (type(value), value)


class Database(Backend):  # type: ignore[misc]
    """`Database().connect()` makes one in memory. All share their statements: name tables of a kind alike."""

    compiler = Compiler()

    def compile(self, expr: Any, /, *, limit: Any = None, params: Any = None, pretty: bool = False) -> str:
        if limit is not None or params or pretty:
            return str(super().compile(expr, limit=limit, params=params, pretty=pretty))
        return self._prepared(question_of(expr.op()), lambda: expr).text

    def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **kwargs: Any) -> Any:
        """As Ibis does it, but looking through the expression once. Ibis keeps each table in memory, and with it the
        connection, until the process ends."""
        if limit is not None or params or kwargs:
            return super().to_pyarrow(expr, params=params, limit=limit, **kwargs)
        found = self.rows_of(expr.as_table())
        return found if isinstance(expr, ibis.Table) else expr.__pyarrow_result__(found, data_mapper=DuckDBPyArrowData)

    def rows_of(self, table: Rows) -> pa.Table:
        """All of its rows."""
        wanted = self.prepared(table)
        return DuckDBPyArrowData.convert_table(self.answer(wanted).to_arrow_table(), wanted.columns)

    def answer(self, wanted: Prepared) -> Any:
        """As DuckDB gives it: a relation."""
        return self.con.sql(wanted.text, params=wanted.given or None)

    def prepared(self, table: Rows) -> Prepared:
        """SQL that gives the rows of `table`, which asks this database or nothing but rows in memory."""
        if isinstance(table, Asked):
            asked, make = table.asked, table.statement
        else:
            asked, make = question_of(table.op()), lambda: table
        for rows in asked.in_memory:
            if rows not in self._memtables:
                self._register_in_memory_table(rows)
                self._memtables.add(rows)
        return self._prepared(asked, make)

    def _prepared(self, asked: Question, make: Callable[[], ibis.Expr]) -> Prepared:
        names = [rows.name for rows in asked.in_memory]
        if asked.parts in _known:
            _known.move_to_end(asked.parts)
        else:
            expr = make()
            given = tuple(sorted({place.number for place in expr.op().find(GivenPlace)}))
            _known[asked.parts] = Statement(str(super().compile(expr)), expr.as_table().schema(), names, given)
            if len(_known) > MOST:
                _known.popitem(last=False)
        return _known[asked.parts].about(names, asked.numbers)

    def get_schema(self, table_name: str, *, catalog: str | None = None, database: str | None = None) -> Any:
        if catalog is not None or database is not None:
            return super().get_schema(table_name, catalog=catalog, database=database)
        quoted = '"' + table_name.replace('"', '""') + '"'
        columns = self.con.sql(f"DESCRIBE {quoted}").fetchall()
        return ibis.schema({name: _type_called(kind, null == "YES") for name, kind, null, *_ in columns})

    def _run_pre_execute_hooks(self, expr: Any) -> None:
        # Of Ibis' preparations, each of which looks through the whole expression, the only one that any of ours needs.
        self._register_in_memory_tables(expr)


@cache
def _for_memory() -> Database:
    """Asked where all is about rows in memory."""
    made: Database = Database().connect()
    return made


@cache
def _type_called(name: str, nullable: bool) -> Any:
    """Data sets have few types, each of which Ibis takes apart anew for each column."""
    return Backend.compiler.type_mapper.from_string(name, nullable=nullable)


def question_of(root: Any) -> Question:
    """What an expression asks. `root`: its operation."""
    places: dict[Any, int] = {}
    parts: list[object] = []
    in_memory: list[Any] = []
    source: Any = None
    waiting = [(root, False)]
    while waiting:
        node, placed_below = waiting.pop()
        if node in places:
            continue
        if not placed_below:
            waiting.append((node, True))
            waiting += [(child, False) for child in node.__children__]
            continue
        values: tuple[object, ...] = node.args
        if isinstance(node, ops.InMemoryTable):
            in_memory.append(node)
            values = (node.schema,)
        elif isinstance(node, ops.DatabaseTable):
            source = node.source
            values = (node.name, node.schema, node.namespace)
        parts.append((type(node), *(_placed(value, places) for value in values)))
        places[node] = len(places)
    return Question(tuple(parts), in_memory, [], source)


def _placed(value: object, places: dict[Any, int]) -> object:
    """With places in place of operations, which keep their connections."""
    if isinstance(value, Node):
        return _PLACE, places[value]
    if isinstance(value, tuple):
        return tuple(_placed(each, places) for each in value)
    if isinstance(value, dict):
        return tuple((_placed(name, places), _placed(each, places)) for name, each in value.items())
    return value
