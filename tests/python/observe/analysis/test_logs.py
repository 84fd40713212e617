"""Calls by which logs answer those of the program (level log) change nothing but what is told level by level."""

from collections.abc import Callable
from dataclasses import asdict, fields, replace

import pytest
from observe.analysis.conftest import Ask
from observe.analysis.scenarios import healthy, sieving
from observe.synthetic import Call, Trace

from halcyon.observe.analysis.decomposition import parts
from halcyon.observe.findings import findings
from halcyon.observe.report_tables import ReportTables, computed
from halcyon.observe.schema import Level
from halcyon.predict.streams import Streams

ASKED = {"open": "log open", "close": "log close", "read": "log pread", "write": "log pwrite", "sync": "log fdatasync"}
BY_LEVEL = {"times", "sizes", "concurrency", "call_durations"}
"""Tables of which level log is a part."""
OF_THE_DATA_SET = {"directory", "examples"}
"""These have numbers of calls, which are others."""


def on_logs(trace: Trace) -> Trace:
    """The same program on logs: below each call of POSIX one on a dropping, and before each open a look at that."""
    droppings: dict[int, int] = {}
    for call in list(trace.calls):
        if call.level != Level.POSIX or call.file is None or call.kind not in ASKED:
            continue
        if call.file not in droppings:
            path = f"{trace.files[call.file]['path']}/hostdir.0/data.n0.1.2"
            droppings[call.file] = trace.file(path, servers=["ost3"], stripe_bytes=4096)
        below = Call(
            call.process, "log", ASKED[call.kind], call.kind, call.start_ns + 1000, call.duration_ns // 2,
            file=droppings[call.file], offset=call.offset and call.offset // 3, bytes=call.bytes, moved=call.moved,
            inside=call,
        )  # fmt: skip
        call.children_ns += below.duration_ns
        trace.calls.append(below)
        if call.kind == "open":
            look = replace(below, call="log stat", kind="stat", start_ns=call.start_ns - 1000, duration_ns=500)
            trace.calls.append(replace(look, inside=None))
    return trace


@pytest.mark.parametrize("program", [healthy, sieving])
def test_all_else_is_as_without_logs(ask: Ask, program: Callable[[], Trace]) -> None:
    plain, logged = (ask(trace) for trace in (program(), on_logs(program())))
    assert Level.LOG not in logged.survey.levels
    one, other = (computed(ReportTables, answers) for answers in (plain, logged))
    for field in fields(ReportTables):
        if field.name not in BY_LEVEL | OF_THE_DATA_SET:
            assert getattr(one, field.name) == getattr(other, field.name), field.name
    assert one.calls, "there is something to compare"
    assert [asdict(found) for found in findings(plain)] == [asdict(found) for found in findings(logged)]
    for name in BY_LEVEL - {"concurrency", "call_durations", "times"}:
        assert getattr(one, name) == [row for row in getattr(other, name) if row.level != Level.LOG]
    spent = [(row.level, row.kind, row.calls, row.bytes, row.seconds) for row in one.times]
    assert spent == [(r.level, r.kind, r.calls, r.bytes, r.seconds) for r in other.times if r.level != Level.LOG]
    learnt, learnt_on_logs = ([stream.calls for stream in Streams(a.survey.dataset).all] for a in (plain, logged))
    assert learnt == learnt_on_logs != []


def test_what_the_file_system_was_asked_for_is_told_by_level(ask: Ask) -> None:
    trace = on_logs(healthy())
    answers = ask(trace)
    below = [call for call in trace.calls if call.level == "log"]
    told = {one.kind: one for one in answers.times if one.level == Level.LOG}
    assert {kind: one.calls for kind, one in told.items()} == {
        kind: sum(call.kind == kind for call in below) for kind in {call.kind for call in below}
    }
    moved = sum(call.moved or 0 for call in below if call.kind == "write")
    assert told["write"].bytes == moved == sum(one.bytes_written for one in answers.ranks) > 0
    written = next(one for one in answers.times if (one.level, one.kind) == ("posix", "write"))
    assert written.self_s == pytest.approx(written.seconds - told["write"].seconds)
    sizes = [one for one in answers.sizes if one.level == Level.LOG and one.kind == "write"]
    assert sum(one.bytes or 0 for one in sizes) == moved
    assert {one.level for one in answers.concurrency.series} == {"posix", "log"}
    assert {"log pwrite", "pwrite"} <= {one.name for one in answers.call_durations}


def test_calls_that_mpi_io_has_answered_by_logs_itself_are_parts_of_it(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/file")
    for number in range(3):
        outer = trace.add(0, "mpiio", "MPI_File_open", "open", number * 100.0, 10, file=file)
        trace.add(0, "posix", "open", "open", number * 100.0 + 1, 2, file=file, inside=outer)
        trace.add(0, "log", "log fdatasync", "sync", number * 100.0 + 4, 3, file=file, inside=outer)
    answers = ask(trace)
    (share,) = answers.functions
    assert (share.other_s, share.communicate_s) == (pytest.approx(0.015), pytest.approx(0.015))
    assert {(one.part_level, one.part, one.calls) for one in parts(answers.survey)} == {
        ("posix", "open", 3), ("log", "log fdatasync", 3),
    }  # fmt: skip
