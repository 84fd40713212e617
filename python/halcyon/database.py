"""DuckDB through Ibis, which compiles equal expressions once in a process.

All data sets are asked the same questions, some eighty for a report. To make SQL of one takes Ibis tens of
milliseconds; DuckDB answers it within one or two.
"""

from collections import OrderedDict
from dataclasses import dataclass
from functools import cache
from typing import Any

import ibis
import ibis.expr.operations as ops
from ibis.backends.duckdb import Backend
from ibis.backends.duckdb.converter import DuckDBPyArrowData
from ibis.common.graph import Node

MOST = 512
"""Statements that are known at a time: those that were used last."""

_PLACE = object()


@dataclass(frozen=True)
class Statement:
    """SQL, and the names of the tables in memory that it was made for: each is new, and stands nowhere else."""

    text: str
    in_memory: list[str]

    def about(self, in_memory: list[str]) -> str:
        """The same of other tables."""
        text = self.text
        for known, wanted in zip(self.in_memory, in_memory, strict=True):
            text = text.replace(known, wanted)
        return text


_known: OrderedDict[tuple[object, ...], Statement] = OrderedDict()


class Database(Backend):  # type: ignore[misc]
    """`Database().connect()` makes one in memory. All share their statements: name tables of a kind alike."""

    def compile(self, expr: Any, /, *, limit: Any = None, params: Any = None, pretty: bool = False) -> str:
        if limit is not None or params or pretty:
            return str(super().compile(expr, limit=limit, params=params, pretty=pretty))
        return self._statement(expr, *question_of(expr.op()))

    def to_pyarrow(self, expr: Any, /, *, params: Any = None, limit: Any = None, **kwargs: Any) -> Any:
        """As Ibis does it, but looking through the expression once. Ibis keeps each table in memory, and with it the
        connection, until the process ends."""
        if limit is not None or params or kwargs:
            return super().to_pyarrow(expr, params=params, limit=limit, **kwargs)
        asked = expr.as_table()
        question, in_memory = question_of(asked.op())
        for table in in_memory:
            if table not in self._memtables:
                self._register_in_memory_table(table)
                self._memtables.add(table)
        found = self.con.sql(self._statement(asked, question, in_memory)).to_arrow_table()
        return expr.__pyarrow_result__(found, data_mapper=DuckDBPyArrowData)

    def _statement(self, expr: Any, question: tuple[object, ...], in_memory: list[Any]) -> str:
        names = [table.name for table in in_memory]
        if question in _known:
            _known.move_to_end(question)
            return _known[question].about(names)
        made = _known[question] = Statement(str(super().compile(expr)), names)
        if len(_known) > MOST:
            _known.popitem(last=False)
        return made.text

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
def _type_called(name: str, nullable: bool) -> Any:
    """Data sets have few types, each of which Ibis takes apart anew for each column."""
    return Backend.compiler.type_mapper.from_string(name, nullable=nullable)


def question_of(root: Any) -> tuple[tuple[object, ...], list[Any]]:
    """All of an expression but the database that it asks and its rows in memory: equal where the statements are, but
    for the names of tables in memory. It keeps neither connections nor rows. `root`: the expression's operation.

    And its tables in memory.
    """
    places: dict[Any, int] = {}
    parts: list[object] = []
    in_memory: list[Any] = []
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
            values = (node.name, node.schema, node.namespace)
        parts.append((type(node), *(_placed(value, places) for value in values)))
        places[node] = len(places)
    return tuple(parts), in_memory


def _placed(value: object, places: dict[Any, int]) -> object:
    """With places in place of operations, which keep their connections."""
    if isinstance(value, Node):
        return _PLACE, places[value]
    if isinstance(value, tuple):
        return tuple(_placed(each, places) for each in value)
    if isinstance(value, dict):
        return tuple((_placed(name, places), _placed(each, places)) for name, each in value.items())
    return value
