"""Sizes, order, alignment, sharing; files and metadata."""

import random
from pathlib import Path

import pyarrow as pa
import pytest
from observe.analysis.conftest import Ask
from observe.analysis.random_trace import random_trace
from observe.synthetic import MIB, Trace

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.schema import TABLES, RunInfo

KIB = 1024


def in_order(offsets: list[int], size: int = KIB) -> Trace:
    trace = Trace(1)
    file = trace.file("/scratch/file")
    for number, offset in enumerate(offsets):
        trace.write(0, file, offset, size, number * 2, 1)
    return trace


@pytest.mark.parametrize(
    ("offsets", "order", "stride"),
    [
        ([n * KIB for n in range(10)], "consecutive", None),
        ([n * 5 * KIB for n in range(10)], "strided", 4 * KIB),
        ([n * n * 2 * KIB for n in range(10)], "forward", None),
        (random.Random(1).sample([n * 3 * KIB for n in range(20)], 20), "random", None),
        (random.Random(1).sample([n * 3 * KIB for n in range(300)], 300), "random", None),
        ([offset for n in range(10) for offset in (n * KIB, 50_000_000 + n * KIB)], "mixed", None),  # two streams
        ([offset for n in range(300) for offset in (n * KIB, 50_000_000 + n * KIB)], "mixed", None),
        ([n * n * 2 * KIB for n in reversed(range(10))], "backward", None),
        ([n * 3 * KIB for n in reversed(range(10))], "backward", -4 * KIB),
        ([n * KIB // 2 for n in range(10)], "strided", -KIB // 2),  # each overlaps the one before
        ([*(n * 5 * KIB for n in range(20)), 7], "strided", 4 * KIB),  # a header in the end
        ([n * KIB for n in range(4)] * 5, "consecutive", None),  # five passes
        ([(n * 5 + 3) * KIB for n in range(4)] * 5, "strided", 4 * KIB),
        ([0] * 10, "repeated", None),
        ([0, KIB], "single", None),
    ],
)
def test_the_order_of_accesses(ask: Ask, offsets: list[int], order: str, stride: int | None) -> None:
    (pattern,) = ask(in_order(offsets)).patterns
    assert (pattern.order, pattern.stride) == (order, stride)
    assert (pattern.low, pattern.high) == (min(offsets), max(offsets) + KIB)


def test_one_outlier_in_each_file_is_no_disorder(ask: Ask) -> None:
    trace = Trace(1)
    for name in range(20):
        file = trace.file(f"/scratch/{name}")
        for number, offset in enumerate([*(n * 5 * KIB for n in range(10)), 100]):
            trace.write(0, file, offset, KIB, number * 2 + name * 100, 1)
    answers = ask(trace)
    assert [(one.order, one.pairs) for one in answers.orders] == [("strided", 20)]
    for one in answers.files:
        assert (one.strided, one.backward, one.random) == (9, 1, 0)
        assert (one.pattern, one.pattern_share) == ("strided", 0.9)


def test_a_file_rewritten_from_its_start_is_not_random(ask: Ask) -> None:
    (file,) = ask(in_order([n * KIB for n in range(4)] * 5)).files
    assert (file.consecutive, file.restarts, file.random) == (15, 4, 0)
    assert file.pattern == "consecutive"


def test_two_streams_in_a_file_are_not_random(ask: Ask) -> None:
    streams = [offset for n in range(150) for offset in (n * KIB, 50_000_000 + n * KIB)]
    (file,) = ask(in_order(streams)).files
    assert (file.random, file.forward, file.backward) == (0, 150, 149)


def test_processes_without_order_are_told_from_those_with_one(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/file")
    shuffled = random.Random(3).sample([n * 3 * KIB for n in range(20)], 20)
    for number, (own, other) in enumerate(zip(shuffled, range(20), strict=True)):
        trace.write(0, file, own, KIB, number * 2, 1)
        trace.write(1, file, other * 7 * KIB, KIB, number * 2, 1)
    (found,) = ask(trace).files
    assert found.strided == 19
    assert found.random == 19 - (found.restarts or 0)
    assert (found.forward, found.backward, found.consecutive) == (0, 0, 0)


def test_without_offsets_the_order_is_unknown(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/file")
    for number in range(5):
        trace.add(0, "posix", "write", "write", number * 2, 1, file=file, bytes=KIB, moved=KIB)
    assert ask(trace).patterns[0].order == "unknown"


def test_sizes_fall_into_powers_of_two(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/file")
    for number, size in enumerate([1, 1023, 1024, 1025, 2047, 2048, MIB]):
        trace.write(0, file, 0, size, number * 2, 1)
    found = {(one.lower, one.upper): (one.calls, one.bytes) for one in ask(trace).sizes}
    assert found == {
        (1, 2): (1, 1),
        (512, 1024): (1, 1023),
        (1024, 2048): (3, 1024 + 1025 + 2047),
        (2048, 4096): (1, 2048),
        (MIB, 2 * MIB): (1, MIB),
    }


def test_a_file_tells_what_was_done_to_it(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/file", block_bytes=4096, stripe_bytes=MIB, servers=["a", "b"])
    for rank in range(2):
        trace.add(rank, "posix", "open", "open", 0, 2, file=file)
        trace.write(rank, file, rank * MIB + 100, 2000, 5, 1)  # off the block
        trace.write(rank, file, (rank + 1) * MIB - 4096, 8192, 10, 1)  # across a border of stripes
        trace.read(rank, file, 0, MIB, 15, 4)
        trace.add(rank, "posix", "fsync", "sync", 30, 3, file=file)
        trace.add(rank, "posix", "fstat", "stat", 40, 1, file=file)
    (found,) = ask(trace).files
    assert (found.opens, found.stats, found.syncs, found.reads, found.writes) == (2, 2, 2, 2, 4)
    assert (found.bytes_read, found.bytes_written) == (2 * MIB, 2 * (2000 + 8192))
    assert found.seconds == pytest.approx(2 * 0.012)
    assert (found.small, found.unaligned, found.crossing) == (4, 2, 2)
    assert (found.ranks, found.servers, found.high) == ([0, 1], ["a", "b"], 2 * MIB + 4096)


def test_what_is_not_known_of_a_file_is_none(ask: Ask) -> None:
    trace = Trace(1)
    trace.write(0, trace.file("/scratch/file", block_bytes=None), 3, 10, 0, 1)
    (found,) = ask(trace).files
    assert (found.unaligned, found.crossing) == (None, None)


@pytest.mark.parametrize(("shared", "approach"), [(True, "shared file"), (False, "file per process")])
def test_the_approach_follows_from_who_shares_files(ask: Ask, shared: bool, approach: str) -> None:
    trace = Trace(3)
    files = [trace.file(f"/scratch/{number}") for number in range(3)]
    for rank in range(3):
        trace.write(rank, files[0 if shared else rank], rank * MIB, MIB, 0, 1)
    (found,) = ask(trace).sharing
    assert (found.kind, found.approach) == ("write", approach)


def test_metadata_is_counted_where_it_reaches_the_file_system(ask: Ask) -> None:
    trace = Trace(1)
    file = trace.file("/scratch/file")
    for number in range(30):
        outer = trace.add(0, "mpiio", "MPI_File_open", "open", number * 10, 8, file=file)
        trace.add(0, "posix", "open", "open", number * 10 + 1, 5, file=file, inside=outer)
    trace.write(0, file, 0, MIB, 3000, 1000)
    found = ask(trace).metadata
    assert (found.calls, found.data_calls, found.per_data_call) == (30, 1, 30.0)
    (opens,) = found.kinds
    assert opens.seconds == pytest.approx(0.15)
    assert opens.per_second == pytest.approx(30 / 4)
    assert opens.most_per_second == 30


def test_rates_of_a_short_run_are_not_extrapolated(ask: Ask) -> None:
    trace = Trace(1)
    for number in range(30):
        trace.add(0, "posix", "stat", "stat", number * 3, 1, file=trace.file(f"/scratch/{number}"))
    (stats,) = ask(trace).metadata.kinds
    assert (stats.calls, stats.per_second, stats.most_per_second) == (30, 30.0, 30.0)


def test_entries_that_the_c_library_has_are_no_requests(ask: Ask) -> None:
    trace = Trace(1)
    directory = trace.file("/scratch")
    trace.add(0, "posix", "opendir", "directory", 0, 1, file=directory)
    for number in range(40):
        trace.add(0, "posix", "readdir", "directory", 10 + 50 * number, 1, file=directory)
    found = ask(trace).metadata
    assert (found.calls, found.buffered, found.seconds) == (1, 40, pytest.approx(0.001))
    assert [(one.kind, one.calls, one.most_per_second) for one in found.kinds] == [("directory", 1, None)]


def test_times_are_summed_by_level_and_kind_and_by_rank(ask: Ask) -> None:
    trace = random_trace(2)
    answers = ask(trace)
    for one in answers.times:
        own = [call for call in trace.calls if (call.level, call.kind) == (one.level, one.kind)]
        assert one.calls == len(own)
        assert one.seconds == pytest.approx(sum(call.duration_ns for call in own) / 1e9)
        assert one.self_s == pytest.approx(sum(call.duration_ns - call.children_ns for call in own) / 1e9)
    for rank in answers.ranks:
        own = [call for call in trace.calls if call.process == rank.rank and call.inside is None]
        assert rank.seconds == pytest.approx(sum(call.duration_ns for call in own) / 1e9)
        assert rank.metadata_s == pytest.approx(sum(call.duration_ns for call in own if call.kind == "stat") / 1e9)


def test_bytes_over_time_add_up(ask: Ask) -> None:
    trace = Trace(2)
    file = trace.file("/scratch/file")
    for rank in range(2):
        for second in range(10):
            trace.write(rank, file, second * MIB, MIB, second * 1000.0, 500)
    found = ask(trace, Settings(activity_bins=10)).activity
    assert (found.bin_s, found.counted) == (pytest.approx(0.95), False)
    (series,) = found.series
    assert sum(series.bytes) == 20 * MIB
    assert series.bytes[:9] == [2 * MIB] * 9  # seconds 0 to 8 begin in steps 0 to 8


def test_without_calls_the_sources_own_counts_are_shown(tmp_path: Path) -> None:
    with DatasetWriter(tmp_path / "run", RunInfo("darshan 3", None, 10_000_000_000, 2)) as writer:
        rows = {"module": "POSIX", "kind": "write", "start_ns": 0, "width_ns": 4_000_000_000, "bytes": 400}
        upper = rows | {"module": "MPIIO", "bytes": 99999}
        writer.write("activity", pa.Table.from_pylist([rows, upper], TABLES["activity"]))
    with Dataset.open(tmp_path / "run") as dataset:
        found = Answers(dataset, Settings(activity_bins=10)).activity
    assert (found.counted, found.module, found.bin_s) == (True, "POSIX", 1.0)
    assert found.series[0].bytes == [100, 100, 100, 100, 0, 0, 0, 0, 0, 0, 0]
