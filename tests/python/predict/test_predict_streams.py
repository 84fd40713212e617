"""Which calls are replayed, in which order, and what is known of them."""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pytest
from observe.synthetic import Trace
from predict.known_program import known_program, stored
from traces import DATA

from halcyon.observe.dataset import Dataset
from halcyon.observe.open_run import open_run
from halcyon.predict.streams import OPERATIONS, Streams


@contextmanager
def opened(trace: Trace, folder: Path, **info: object) -> Iterator[Streams]:
    with Dataset.open(stored(trace, folder / "run", **info)) as dataset:
        yield Streams(dataset)


def columns(streams: Streams, at: int = 0) -> dict[str, np.ndarray[Any, Any]]:
    """Of one stream, as a whole."""
    wanted = streams.all[at]
    pieces = [piece for stream, piece in streams.pieces([wanted]) if stream == wanted]
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def kinds(streams: Streams, at: int = 0) -> list[str]:
    return [str(OPERATIONS[number]) for number in columns(streams, at)["operation"]]


def test_calls_come_in_the_order_of_their_ends(tmp_path: Path) -> None:
    trace = Trace()
    file = trace.file("/a")
    closing = trace.add(0, "stdio", "fclose", "close", 10, 9, file=file)
    trace.add(0, "posix", "stdio write", "write", 12, 3, file=file, offset=0, bytes=7, moved=7, inside=closing)
    trace.add(0, "stdio", "fopen", "open", 0, 1, file=file)
    with opened(trace, tmp_path, source="halcyon 0.1.0") as streams:
        assert kinds(streams) == ["open", "write", "close"]


def test_of_stdio_its_transfers_are_those_that_reach_the_file(tmp_path: Path) -> None:
    trace = Trace()
    file = trace.file("/a")
    for number in range(3):
        printing = trace.add(0, "stdio", "fprintf", "write", 10 * number, 5, file=file, bytes=8)
    trace.add(0, "posix", "stdio write", "write", 22, 1, file=file, offset=0, bytes=24, moved=24, inside=printing)
    with opened(trace, tmp_path, source="halcyon 0.1.0") as streams:
        assert columns(streams)["bytes"].tolist() == [24]
        assert streams.selection.level == "posix"


def test_what_a_source_tells_of_stdio_alone_stands_for_it(tmp_path: Path) -> None:
    trace = Trace()
    file = trace.file("/a")
    for number in range(3):
        trace.add(0, "stdio", "fwrite", "write", 10 * number, 5, file=file, bytes=8)
    with opened(trace, tmp_path, source="dftracer") as streams:
        assert columns(streams)["bytes"].tolist() == [8, 8, 8]
        assert columns(streams)["offset"].tolist() == [-1, -1, -1]
        assert streams.selection.level == "stdio"
        assert streams.selection.without_offset == 3


def test_mpi_io_is_replayed_only_where_there_is_nothing_below_it(tmp_path: Path) -> None:
    trace = Trace()
    file = trace.file("/a")
    above = trace.mpi_write(0, file, 0, 100, 0, 5)
    with opened(trace, tmp_path / "alone") as streams:
        assert (streams.selection.level, kinds(streams)) == ("mpiio", ["write"])
    trace.write(0, file, 0, 60, 1, 1, inside=above)
    with opened(trace, tmp_path / "both") as streams:
        assert (streams.selection.level, columns(streams)["bytes"].tolist()) == ("posix", [60])


def test_failed_calls_and_calls_without_a_time_are_left_out_and_counted(tmp_path: Path) -> None:
    trace = known_program(2)
    file = trace.file("/nowhere")
    trace.add(0, "posix", "open", "open", 0.5, 0.1, file=file, error=2)
    trace.add(0, "posix", "write", "write", 1.5, 0.1, file=file, bytes=4).moved = -1  # its result: refused
    with opened(trace, tmp_path) as streams:
        assert streams.selection.failed == 2
        assert len(kinds(streams)) == 8


def test_calls_of_mpis_start_are_none_of_the_program(tmp_path: Path) -> None:
    trace = known_program(1)
    start = trace.add(0, "mpiio", "MPI_Init", "control", -20, 10)
    reading = trace.add(0, "stdio", "fread", "read", -19, 5, inside=start)
    trace.add(0, "posix", "open", "open", -14, 0.1, file=0, inside=start)
    trace.add(0, "posix", "stdio read", "read", -18, 1, file=0, offset=0, bytes=9, moved=9, inside=reading)
    with opened(trace, tmp_path, source="halcyon 0.1.0") as streams:
        assert kinds(streams) == ["open", "write", "write", "close"]


def test_opens_that_empty_the_file_are_told(tmp_path: Path) -> None:
    trace = Trace()
    for number, (call, flags) in enumerate([("open", 0o1101), ("open", 0), ("creat", None), ("fopen", 0o1000)]):
        level = "stdio" if call == "fopen" else "posix"
        trace.add(0, level, call, "open", number, 0.1, file=trace.file(f"/{number}"), argument=flags)
    with opened(trace, tmp_path) as streams:
        assert columns(streams)["truncates"].tolist() == [1, 0, 1, 1]


def test_a_call_is_told_apart_by_what_made_it(tmp_path: Path) -> None:
    trace = Trace()
    file = trace.file("/a")
    for number in range(4):
        within = trace.mpi_write(0, file, 0, 10, 10 * number, 5) if number % 2 else None
        trace.write(0, file, 0, 10, 10 * number + 1, 1, inside=within)
    with opened(trace, tmp_path) as streams:
        context = columns(streams)["context"]
        assert context[0] == context[2] != context[1] == context[3]
        assert 0 not in context
        assert streams.selection.stacks == 0


def test_recorded_call_stacks_are_the_contexts(tmp_path: Path) -> None:
    with Dataset.open(stored(known_program(3), tmp_path / "run")) as dataset:
        stacks = ibis.ifelse(dataset.calls.kind == "close", ibis.null("int64"), dataset.calls.number + 2**32 - 100)
        streams = Streams(dataclasses.replace(dataset, calls=dataset.calls.mutate(context=stacks)))
        context = columns(streams)["context"].tolist()
        assert context[:3] == [2**32 - 99, 2**32 - 98, 2**32 - 97]
        assert context[3] == context[7] not in (0, 2**32 - 96)
        assert streams.selection.stacks == 9


def test_files_have_numbers_and_paths_of_their_process(tmp_path: Path) -> None:
    with opened(known_program(2, ranks=2), tmp_path) as streams:
        second = streams.all[1]
        assert streams.paths(second) == ["", "/scratch/out.1.0000", "/scratch/out.1.0001"]
        assert columns(streams, 1)["file"].tolist() == [1, 1, 1, 1, 2, 2, 2, 2]


def test_a_darshan_log_is_replayed_from_dxt(tmp_path: Path) -> None:
    with open_run(DATA / "darshan" / "mpi-io-test-dxt.darshan") as dataset:
        streams = Streams(dataset)
        assert len(streams.all) == 32
        own = columns(streams)
        assert own["bytes"].tolist() == own["moved"].tolist()  # DXT tells what was transferred
        assert own["bytes"].min() > 0
        assert own["offset"].min() >= 0
        assert {stream.transfers for stream in streams.all} == {10}


def test_positions_follow_from_opens_reads_writes_and_seeks() -> None:
    with open_run(DATA / "dftracer" / "threads.pfw") as dataset:
        streams = Streams(dataset)
        own = columns(streams)
        told = dict(zip(zip(own["operation"].tolist(), own["bytes"].tolist(), strict=True), own["offset"], strict=True))
        # posix_calls.c: write(500) after the open, read(200) after a seek to 100; pread and pwrite move nothing.
        write, read = OPERATIONS.index("write"), OPERATIONS.index("read")
        assert told[write, 500] == 0
        assert told[read, 200] == 100
        assert streams.selection.without_offset == 3  # of stdio


def test_after_a_seek_to_who_knows_where_nothing_follows() -> None:
    with open_run(DATA / "recorder" / "posix") as dataset:
        own = columns(Streams(dataset))
        told = dict(zip(zip(own["operation"].tolist(), own["bytes"].tolist(), strict=True), own["offset"], strict=True))
        assert told[OPERATIONS.index("write"), 500] == 0
        assert told[OPERATIONS.index("read"), 200] == -1


@pytest.mark.parametrize(("mpi", "ranks"), [(True, [0, 1]), (False, [0, 1])])
def test_only_the_chosen_processes_are_replayed(tmp_path: Path, mpi: bool, ranks: list[int]) -> None:
    with Dataset.open(stored(known_program(2, ranks=2, mpi=mpi), tmp_path / "run")) as dataset:
        assert [stream.process for stream in Streams(dataset, ranks=[1]).all] == [1]
        assert [stream.process for stream in Streams(dataset, processes=[0]).all] == [0]
        assert Streams(dataset).ranks == ranks
