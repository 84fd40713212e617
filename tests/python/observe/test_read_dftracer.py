"""DFTracer's trace of posix_calls.c, and what its format allows beside."""

import gzip
import json
from pathlib import Path

import pytest
from traces import DATA, Row, chosen, packed, rows

from halcyon.errors import ConfigError, UsageError
from halcyon.observe.pack import pack

TRACE = DATA / "dftracer" / "threads.pfw"


def event(name: str, ts: int, dur: int, cat: str = "POSIX", **args: object) -> Row:
    return {"id": ts, "name": name, "cat": cat, "pid": 7, "tid": args.pop("tid", 7), "ts": ts, "dur": dur, "args": args}


def written(path: Path, *events: Row) -> Path:
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in events))
    return path


def test_calls_are_those_of_the_program(tmp_path: Path) -> None:
    with packed(TRACE, tmp_path / "run") as dataset:
        calls = rows(dataset, "calls")
        paths = dict(chosen(rows(dataset, "files"), "file", "path"))
        pwrites = [row for row in calls if row["call"] == "pwrite"]
        assert chosen(pwrites, "offset", "bytes", "moved", "step") == [
            (0, 1000, 1000, None), (1000, 1000, 1000, 0), (2000, 1000, 1000, 0), (3000, 1000, 1000, 0),
        ]  # fmt: skip
        assert {paths[row["file"]] for row in pwrites} == {"/srv/run/data/a.bin"}
        # The file has 4500 bytes; 50 were asked for at 3990 after a write of 500 at 0.
        (short,) = [row for row in calls if row["call"] == "pread" and row["thread"] == 0]
        assert (short["bytes"], short["moved"], short["result"]) == (50, 10, 10)
        of_thread = [row for row in calls if row["thread"] == 1]
        assert chosen(of_thread, "call", "number") == [
            ("open", 1), ("pread", 2), ("pread", 3), ("pread", 4), ("close", 5),
        ]  # fmt: skip
        assert {row["call"]: row["kind"] for row in calls} == {
            "mkdir": "namespace", "open": "open", "pwrite": "write", "write": "write", "lseek": "seek", "read": "read",
            "pread": "read", "fsync": "sync", "ftruncate": "resize", "close": "close", "fopen": "open",
            "fwrite": "write", "fseek": "seek", "fclose": "close", "unlink": "namespace",
        }  # fmt: skip
        fwrites = [row for row in calls if row["call"] == "fwrite"]
        assert chosen(fwrites, "level", "bytes", "moved", "result") == [("stdio", 3000, None, 1500)] * 3


def test_process_and_run_are_described(tmp_path: Path) -> None:
    with packed(TRACE, tmp_path / "run") as dataset:
        (process,) = rows(dataset, "processes")
        assert (process["host"], process["command"], process["ended"]) == ("vm", "./app", "exit")
        assert (process["calls"], process["start_ns"]) == (27 - 1, 0)
        assert process["end_ns"] == dataset.info.duration_ns
        assert dataset.info.start == pytest.approx(1795282752, abs=1)


def test_compressed_and_in_a_folder_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "one.pfw.gz").write_bytes(gzip.compress(TRACE.read_bytes()))
    with packed(TRACE, tmp_path / "a") as plain, packed(tmp_path / "traces", tmp_path / "b") as folder:
        assert rows(plain, "calls") == rows(folder, "calls")
        assert rows(plain, "processes") == rows(folder, "processes")


def test_calls_within_calls_have_parents(tmp_path: Path) -> None:
    trace = written(
        tmp_path / "t.pfw",
        event("H5Dwrite", 100, 50, "HDF5"),
        event("MPI_File_write_at", 100, 50, "MPI"),
        event("pwrite64", 110, 41, ret=8, offset=0, count=8),  # ends a tick after its parent: times are rounded
        event("pwrite64", 120, 5, ret=8, offset=8, count=8, tid=8),
        event("pwrite64", 160, 5, ret=8, offset=8, count=8),
    )
    with packed(trace, tmp_path / "run") as dataset:
        found = chosen(rows(dataset, "calls"), "thread", "call", "number", "parent", "parent_call", "self_ns")
        assert found == [
            (0, "H5Dwrite", 1, None, None, 0),
            (0, "MPI_File_write_at", 2, 1, "H5Dwrite", 9000),
            (0, "pwrite64", 3, 2, "MPI_File_write_at", 41000),
            (1, "pwrite64", 1, None, None, 5000),
            (0, "pwrite64", 4, None, None, 5000),
        ]


def test_events_that_are_no_io_are_counted(tmp_path: Path) -> None:
    trace = written(
        tmp_path / "t.pfw", event("epoch", 1, 5, "python"), event("read", 2, 1), event("MPI_Send", 4, 1, "MPI")
    )
    with packed(trace, tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "call") == [("read",)]
        facts = dict(chosen(rows(dataset, "facts"), "key", "value"))
        assert facts == {"dftracer.events.python": "1", "dftracer.events.MPI": "1"}


def test_numbers_may_be_text_as_in_older_versions(tmp_path: Path) -> None:
    trace = written(tmp_path / "t.pfw", event("read", 2, 1, ret="4", count="8", offset="16", fname="/a"))
    with packed(trace, tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "moved", "bytes", "offset") == [(4, 8, 16)]
        assert chosen(rows(dataset, "files"), "path") == [("/a",)]


def test_the_unit_of_time_is_the_traces(tmp_path: Path) -> None:
    unit = {"name": "CM", "cat": "dftracer", "pid": 7, "tid": 7, "args": {"name": "time_metric", "value": "NS"}}
    trace = written(tmp_path / "t.pfw", unit, event("read", 10**18 + 5, 70), event("read", 10**18 + 100, 20))
    with packed(trace, tmp_path / "run") as dataset:
        assert chosen(rows(dataset, "calls"), "start_ns", "duration_ns") == [(0, 70), (95, 20)]
        assert dataset.info.start == pytest.approx(10**9)


def test_a_trace_whose_process_did_not_end_says_so(tmp_path: Path) -> None:
    lines = TRACE.read_bytes().splitlines(keepends=True)
    (tmp_path / "t.pfw").write_bytes(b"".join(lines[:-1]))
    with packed(tmp_path / "t.pfw", tmp_path / "run") as dataset:
        assert ("partial", "end of the trace") in chosen(rows(dataset, "absences"), "what", "subject")


def refusal(path: Path, folder: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        pack(path, folder)
    assert not folder.exists()
    return str(raised.value)


def test_a_line_cut_off_is_named_with_its_byte(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw"
    path.write_bytes(TRACE.read_bytes()[:-60])
    *before, last = path.read_bytes().splitlines()
    with pytest.raises(json.JSONDecodeError) as within:
        json.loads(last)
    byte = sum(len(line) + 1 for line in before) + within.value.pos
    assert f"t.pfw:{len(before) + 1}: byte {byte}: " in refusal(path, tmp_path / "run")


def test_compression_cut_off_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.pfw.gz"
    path.write_bytes(gzip.compress(TRACE.read_bytes())[:-20])
    assert "t.pfw.gz: its compression is damaged or cut off" in refusal(path, tmp_path / "run")


@pytest.mark.parametrize("content", [b"", b"[\n", b"[\n]\n"])
def test_a_trace_without_events_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.pfw"
    path.write_bytes(content)
    assert str(path) in refusal(path, tmp_path / "run")


def test_a_time_that_is_no_number_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "t.pfw", event("read", 1, 1), event("read", 2, 1) | {"ts": [2]})
    assert "t.pfw:3: byte " in refusal(path, tmp_path / "run")


def test_nothing_there_says_what_could_be(tmp_path: Path) -> None:
    with pytest.raises(
        UsageError, match=r"no such file or folder; expected a folder made by .*, a Darshan log, a DFTracer trace"
    ):
        pack(tmp_path / "none", tmp_path / "run")


def test_what_is_no_trace_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    assert "not recognized; expected a folder made by" in refusal(tmp_path / "notes.txt", tmp_path / "run")


def test_processes_are_told_apart_by_host_and_id(tmp_path: Path) -> None:
    names = [
        {"name": "HH", "cat": "dftracer", "pid": 1, "tid": 1, "args": {"name": f"n{host}", "value": f"{host}{host}"}}
        for host in range(2)
    ]
    events = [
        event("read", 10 * at, 1, hhash=f"{host}{host}" if host is not None else None) | {"pid": pid}
        for at, (host, pid) in enumerate([(0, 7), (1, 7), (0, 8), (None, 7), (1, 7)])
    ]
    with packed(written(tmp_path / "t.pfw", *names, *events), tmp_path / "run") as dataset:
        of_process = {row["process"]: (row["host"], row["pid"], row["calls"]) for row in rows(dataset, "processes")}
        calls = sorted(rows(dataset, "calls"), key=lambda row: row["start_ns"])
        assert [of_process[row["process"]][:2] for row in calls] == [
            ("n0", 7), ("n1", 7), ("n0", 8), (None, 7), ("n1", 7),
        ]  # fmt: skip
        assert sorted(of_process.values(), key=repr) == sorted(
            [("n0", 7, 1), ("n1", 7, 2), ("n0", 8, 1), (None, 7, 1)], key=repr
        )
