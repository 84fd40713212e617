"""Equal questions of several data sets are compiled once in a process; others, never taken for one another."""

import gc
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pytest
from ibis import _
from ibis.backends.duckdb import Backend
from observe.analysis import scenarios
from observe.analysis.random_trace import random_trace
from observe.synthetic import Trace

from halcyon import database
from halcyon.database import Database, question_of
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.dataset import Dataset
from halcyon.observe.findings import findings
from halcyon.observe.report_tables import report_tables


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> dict[Any, Any]:
    """Nothing, at first."""
    own = type(database._known)()
    monkeypatch.setattr(database, "_known", own)
    return own


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What Ibis was asked to compile."""
    made: list[str] = []
    by_ibis = Backend.compile

    def noted(self: Backend, *arguments: Any, **options: Any) -> str:
        made.append(by_ibis(self, *arguments, **options))
        return made[-1]

    monkeypatch.setattr(Backend, "compile", noted)
    return made


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[Trace], Dataset]]:
    made: list[Dataset] = []

    def store_and_open(trace: Trace) -> Dataset:
        made.append(Dataset.open(trace.store(tmp_path / f"run{len(made)}")))
        return made[-1]

    yield store_and_open
    for dataset in made:
        dataset.close()


def test_a_question_of_two_data_sets_is_compiled_once_and_each_gives_its_own_answer(
    opened: Callable[[Trace], Dataset], compiled: list[str]
) -> None:
    few, many = opened(random_trace(1, ranks=1)), opened(random_trace(1, ranks=3))
    compiled.clear()
    told = [data.calls.filter(_.process >= 0).count().to_pyarrow().as_py() for data in (few, many)]
    assert len(compiled) == 1
    assert 0 < told[0] < told[1]


@pytest.mark.parametrize("traces", [(random_trace(1), random_trace(2)), (scenarios.sieving(), scenarios.late_rank())])
def test_a_known_statement_is_the_one_that_ibis_makes(
    opened: Callable[[Trace], Dataset], monkeypatch: pytest.MonkeyPatch, traces: tuple[Trace, ...]
) -> None:
    """Of all questions of a report of one data set after the other."""
    asked = repeated = 0
    once = Database._statement

    def compared(self: Database, expr: Any, *question: Any) -> str:
        nonlocal asked, repeated
        before = len(database._known)
        found = once(self, expr, *question)
        asked += 1
        repeated += len(database._known) == before
        assert found == Backend.compile(self, expr)
        return found

    monkeypatch.setattr(Database, "_statement", compared)
    for trace in traces:
        report_tables(opened(trace))
    assert repeated > asked / 4, f"{repeated} of {asked}: the test shows little"


def test_findings_of_a_further_run_of_the_kind_compile_little(
    opened: Callable[[Trace], Dataset], compiled: list[str]
) -> None:
    needed = []
    for seed in (1, 2):
        dataset = opened(random_trace(seed))
        compiled.clear()
        findings(Answers(dataset))
        needed.append(len(compiled))
    assert needed[1] < needed[0] / 5, needed


def asked(operation: Any) -> object:
    question, _in_memory = question_of(operation)
    return question


@pytest.fixture
def table() -> Any:
    return ibis.table({"a": "int64", "b": "int64", "c": "string"}, name="t")


DIFFERENT: list[Callable[[Any], Any]] = [
    lambda t: t.filter(t.a == 1),
    lambda t: t.filter(t.a == 2),
    lambda t: t.filter(t.a == -1),
    lambda t: t.filter(t.a == -2),  # of the same hash as -1
    lambda t: t.filter(t.a == 1.0),
    lambda t: t.filter(t.a.cast("bool") == True),  # noqa: E712
    lambda t: t.filter(t.b == 1),
    lambda t: t.filter(t.a.isin([1, 2])),
    lambda t: t.filter(t.a.isin([2, 1])),
    lambda t: t.limit(1),
    lambda t: t.limit(2),
    lambda t: t.limit(1, offset=1),
    lambda t: t.limit(t.count()),
    lambda t: t.select("a", "b"),
    lambda t: t.select("b", "a"),
    lambda t: t.select(a="b", b="a"),
    lambda t: t.order_by("a"),
    lambda t: t.order_by(ibis.desc("a")),
    lambda t: t.aggregate(by="a", n=_.count()),
    lambda t: t.aggregate(by="a", n=_.b.count()),
    lambda t: t.aggregate(by="a", m=_.b.count()),
    lambda t: t.aggregate(by="a", n=_.b.sum()),
    lambda t: t.mutate(n=_.b.sum().over(ibis.window(group_by="a"))),
    lambda t: t.mutate(n=_.b.sum().over(ibis.window(group_by="a", order_by="b"))),
    lambda t: t.mutate(n=_.b.sum().over(ibis.rows_window(preceding=1, following=0, group_by="a", order_by="b"))),
    lambda t: t.mutate(n=_.b.sum().over(ibis.rows_window(preceding=2, following=0, group_by="a", order_by="b"))),
    lambda t: t.mutate(n=ibis.null("int64")),
    lambda t: t.mutate(n=ibis.null("string")),
    lambda t: t.filter(t.c == "1"),
    lambda t: t.inner_join(t.view(), "a"),
    lambda t: t.left_join(t.view(), "a"),
]


def test_questions_that_differ_in_anything_are_not_equal(table: Any) -> None:
    questions = [asked(made(table).op()) for made in DIFFERENT]
    questions += [asked(other.op()) for other in (table, table.drop("c"), table.rename(d="c"))]
    questions += [asked(ibis.table(table.schema(), name="u").op())]
    assert len(set(questions)) == len(questions) == len(DIFFERENT) + 4


@pytest.mark.parametrize(("columns", "equal"), [("2 AS a", True), ("2 AS a, 3 AS b", False), ("'2' AS a", False)])
def test_tables_of_two_databases_are_equal_where_name_and_columns_are(columns: str, equal: bool) -> None:
    questions = []
    for chosen in ("1 AS a", columns):
        connection = Database().connect()
        connection.con.execute(f"CREATE TABLE t AS SELECT {chosen}")
        questions.append(asked(connection.table("t").op()))
        connection.disconnect()
    assert (questions[0] == questions[1]) == equal


def test_questions_made_anew_are_equal(table: Any) -> None:
    for made in DIFFERENT[:-2]:  # views have numbers of their own
        assert asked(made(table).op()) == asked(made(ibis.table(table.schema(), name="t")).op())


def test_a_question_about_rows_in_memory_is_compiled_once_for_any_rows(compiled: list[str]) -> None:
    connection = Database().connect()
    told = []
    for one, other in (([1, 2], [10]), ([3, 4], [20]), ([5], [30])):
        few, many = (ibis.memtable(pa.table({"a": rows})) for rows in (one, other))
        told.append(connection.to_pyarrow(few.cross_join(many).aggregate(n=_.a.sum(), m=_.a_right.max())).to_pylist())
    assert told == [[{"n": 3, "m": 10}], [{"n": 7, "m": 20}], [{"n": 5, "m": 30}]]
    assert len(compiled) == 1
    connection.disconnect()


def test_which_rows_in_memory_are_the_same_matters() -> None:
    one, other = (ibis.memtable(pa.table({"a": [1]})) for _ in range(2))
    assert asked(one.union(one).op()) != asked(one.union(other).op())
    assert asked(one.union(other).op()) == asked(other.union(one).op())


def test_a_known_statement_keeps_no_rows(known: dict[Any, Any]) -> None:
    connection = Database().connect()
    data = pa.table({"a": [1, 2]})
    gone = weakref.ref(data)
    assert connection.to_pyarrow(ibis.memtable(data).a.sum()).as_py() == 3
    assert len(known) == 1
    connection.disconnect()
    del connection, data
    gc.collect()
    assert gone() is None


KINDS = "1::TINYINT a, 1::HUGEINT b, 'x' c, [1.5] d, {'p': 1, 'q': ['y']} e, 1.5::DECIMAL(9, 2) f, TIME '12:00' g"


def test_types_of_columns_are_those_that_ibis_reads() -> None:
    connection = Database().connect()
    connection.con.execute(f'CREATE TABLE "a ""table""" AS SELECT {KINDS}')
    own, of_ibis = (kind.get_schema(connection, 'a "table"') for kind in (Database, Backend))
    assert own == of_ibis
    connection.disconnect()


def test_a_known_statement_keeps_no_connection(known: dict[Any, Any]) -> None:
    connection = Database().connect()
    connection.con.execute("CREATE TABLE t AS SELECT 1 AS a")
    assert connection.table("t").a.sum().to_pyarrow().as_py() == 1
    assert len(known) == 1
    gone = weakref.ref(connection)
    connection.disconnect()
    del connection
    gc.collect()
    assert gone() is None


def test_the_statements_used_last_are_kept(known: dict[Any, Any], monkeypatch: pytest.MonkeyPatch, table: Any) -> None:
    monkeypatch.setattr(database, "MOST", 2)
    connection = Database().connect()
    first, second, third = (connection.compile(table.limit(n)) for n in (1, 2, 1))
    assert first == third != second
    connection.compile(table.limit(3))
    assert [one.text for one in known.values()] == [first, connection.compile(table.limit(3))]
    connection.disconnect()
