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
from halcyon.database import Asked, Database, Given, Prepared, Rows, question, question_of
from halcyon.errors import InternalError
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
    once = Database.prepared

    def compared(self: Database, table: Rows) -> Prepared:
        nonlocal asked, repeated
        before = len(database._known)
        found = once(self, table)
        asked += 1
        repeated += len(database._known) == before
        expression = table.table if isinstance(table, Asked) else table
        text = found.text
        for name, number in found.given.items():
            text = text.replace(f"CAST(${name} AS BIGINT)", str(number))
        assert (text, found.columns) == (Backend.compile(self, expression), expression.schema())
        return found

    monkeypatch.setattr(Database, "prepared", compared)
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
    return question_of(operation).parts


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


@pytest.fixture
def put_together() -> list[tuple[object, ...]]:
    """What the question below was put together of."""
    made.clear()
    return made


made: list[tuple[object, ...]] = []


@question
def above(rows: ibis.Table, least: float, names: tuple[str, ...]) -> ibis.Table:
    made.append((least, names))
    return rows.filter((_.a >= least) & _.c.isin(names))


@question
def sums(rows: ibis.Table, others: ibis.Table) -> ibis.Table:
    return rows.cross_join(others).aggregate(n=_.a.sum(), m=_.a_right.sum())


def tables(*rows: int) -> tuple[Database, ibis.Table]:
    connection = Database().connect()
    values = ", ".join(f"({row}, 'x')" for row in rows)
    connection.con.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {values}) AS v (a, c)")
    return connection, connection.table("t")


def test_a_question_is_put_together_once_for_tables_of_a_kind(put_together: list[tuple[object, ...]]) -> None:
    told = []
    for rows in ((1, 2, 3), (4, 5)):
        connection, table = tables(*rows)
        told.append([row["a"] for row in above(table, 2, ("x", "y")).to_pyarrow().to_pylist()])
        connection.disconnect()
    assert told == [[2, 3], [4, 5]]
    assert len(put_together) == 1


def test_a_question_that_differs_in_anything_is_another() -> None:
    connection, table = tables(1, 2)
    asked = [
        above(about, least, names).asked.parts
        for about in (table, table.filter(_.a < 2), above(table, 0, ("x",)))
        for least, names in ((1, ("x",)), (2, ("x",)), (2.0, ("x",)), (True, ("x",)), (1, ("y",)), (1, ("x", "y")))
    ]
    assert len(set(asked)) == len(asked)
    connection.disconnect()


def test_questions_about_questions_and_rows_in_memory_have_their_own_answers(
    put_together: list[tuple[object, ...]], compiled: list[str]
) -> None:
    told = []
    for rows, others in (((1, 2, 3), (10,)), ((4, 5), (20, 30))):
        connection, table = tables(*rows)
        few = ibis.memtable(pa.table({"a": others}))
        told += sums(above(table, 2, ("x",)), few).to_pyarrow().to_pylist()
        connection.disconnect()
    assert told == [{"n": 5, "m": 20}, {"n": 18, "m": 100}]
    assert len(put_together) == len(compiled) == 1


def test_a_question_tells_which_of_its_rows_in_memory_are_the_same() -> None:
    connection, _table = tables(1)
    one, other = (ibis.memtable(pa.table({"a": [n]})) for n in (1, 2))
    asked = [sums(*about).asked.parts for about in ((one, one), (one, other), (other, one))]
    assert asked[0] != asked[1] == asked[2]
    connection.disconnect()


@question
def in_steps(rows: ibis.Table, width: ibis.Value, others: ibis.Table) -> ibis.Table:
    return rows.aggregate(by=(_.a // width).name("step"), n=_.count()).join(others, "step").order_by("step")


@question
def widened(rows: ibis.Table, more: ibis.Value) -> ibis.Table:
    return rows.mutate(step=_.a + more)


def test_a_question_that_differs_in_what_is_given_alone_is_the_same(compiled: list[str]) -> None:
    connection, table = tables(1, 2, 3, 10)
    told = [
        in_steps(table, Given(width), widened(table, Given(-more))).to_pyarrow().to_pydict()["step"]
        for width, more in ((1, 1), (2, 1), (10, 3))
    ]
    assert told == [[1, 2], [0, 1], [0]]
    assert len(compiled) == 1
    connection.disconnect()


@question
def below(rows: ibis.Table, most: int, unused: ibis.Value, more: ibis.Value) -> ibis.Table:
    return rows.filter(_.a < most).select(b=_.a + more)


def test_what_is_given_is_taken_for_no_number_that_a_question_has_itself(compiled: list[str]) -> None:
    connection, table = tables(1, 2, 1 << 62)
    for most in (7_046_029_254_386_350_000, 7_046_029_254_386_350_001, 2):
        told = [below(table, most, Given(0), Given(more)).to_pyarrow().to_pydict()["b"] for more in (-5, 5)]
        whole = [row for row in (1, 2, 1 << 62) if row < most]
        assert told == [[row - 5 for row in whole], [row + 5 for row in whole]]
    assert len(compiled) == 3
    connection.disconnect()


@question
def about_rows_of_its_own(rows: ibis.Table) -> ibis.Table:
    return rows.inner_join(ibis.memtable(pa.table({"a": [1]})), "a")


def test_a_question_may_not_make_rows_of_its_own() -> None:
    """Nobody would know that they belong to it."""
    connection, table = tables(1)
    with pytest.raises(InternalError, match="about_rows_of_its_own"):
        about_rows_of_its_own(table).to_pyarrow()
    connection.disconnect()


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
