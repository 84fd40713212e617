"""Recorder's traces of posix_calls.c and mpi_calls.c, as folders and as the text that recorder2text makes of them."""

import shutil
from pathlib import Path

import pytest
from traces import DATA, chosen, packed, rows

from halcyon.errors import ConfigError
from halcyon.observe.pack import pack

FOLDERS = DATA / "recorder"
COMPARED = ("process", "level", "call", "kind", "offset", "bytes", "argument", "start_ns", "parent_call")


@pytest.mark.parametrize("name", ["posix", "mpi"])
def test_grammars_expand_to_what_recorders_own_tool_writes(tmp_path: Path, name: str) -> None:
    with packed(FOLDERS / name, tmp_path / "a") as own, packed(FOLDERS / f"{name}-text", tmp_path / "b") as text:
        of_folder, of_text = rows(own, "calls"), rows(text, "calls")
        assert [row["call"] for row in of_folder] != []
        if name == "mpi":  # one thread each: parents of the text, which knows no threads, are right
            assert chosen(of_folder, *COMPARED) == chosen(of_text, *COMPARED)
        else:
            assert chosen(of_folder, *COMPARED[:-1]) == chosen(of_text, *COMPARED[:-1])


def test_calls_of_mpi_io_contain_those_of_posix(tmp_path: Path) -> None:
    with packed(FOLDERS / "mpi", tmp_path / "run") as dataset:
        calls = rows(dataset, "calls")
        paths = dict(chosen(rows(dataset, "files"), "file", "path"))
        for rank in (0, 1):
            outer = [row for row in calls if row["process"] == rank and row["call"] == "MPI_File_write_at"]
            assert chosen(outer, "offset", "bytes") == [((2 * i + rank) * 256, 256) for i in range(8)]
            inner = [row for row in calls if row["process"] == rank and row["call"] == "pwrite"]
            assert chosen(inner, "offset", "bytes") == chosen(outer, "offset", "bytes")
            assert chosen(inner, "parent", "parent_call") == [(row["number"], "MPI_File_write_at") for row in outer]
            assert {paths[row["file"]] for row in inner + outer} == {"/srv/run/data/shared.bin"}
        assert {row["moved"] for row in calls} == {None}
        assert dataset.info.ranks == 2
        assert dict(chosen(rows(dataset, "facts"), "key", "value")) == {"recorder.calls.mpi": "2"}


def test_threads_are_told_apart(tmp_path: Path) -> None:
    with packed(FOLDERS / "posix", tmp_path / "run") as dataset:
        of_thread = [row for row in rows(dataset, "calls") if row["thread"] == 1]
        assert chosen(of_thread, "call", "number", "offset") == [
            ("open", 1, None), ("pread", 2, 0), ("pread", 3, 700), ("pread", 4, 1400), ("close", 5, None),
        ]  # fmt: skip


def harmed(tmp_path: Path, name: str, content: bytes | None, source: str = "mpi") -> Path:
    """A copy of a trace in which one file has another content, or is missing."""
    folder = tmp_path / "trace"
    shutil.copytree(FOLDERS / source, folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    return folder


def data(name: str) -> bytes:
    return (FOLDERS / "mpi" / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "VERSION",
            b"3.0.0",
            "version '3.0.0'; expected one of 2.5: turn the trace into text with its own recorder2text",
        ),
        ("VERSION", None, "VERSION: missing"),
        (
            "recorder.mt",
            data("recorder.mt")[:30],
            "recorder.mt: byte 0: 40 bytes expected here, the file ends at byte 30",
        ),
        ("1.cst", data("1.cst")[:500], "1.cst: byte "),
        ("1.cst", b"", "1.cst: byte 0: 4 bytes expected here, the file ends at byte 0"),
        ("0.cfg", data("0.cfg")[:-8], "0.cfg: byte "),
        ("0.cfg", data("1.cfg"), "0.cfg: .* calls; the file of times has 33"),
        ("0.ts", data("0.ts")[:-8], "0.cfg: .*; the file of times has 32: one of them is damaged"),
        ("0.ts", data("0.ts")[:-3], "0.ts: ends at byte 261, within a pair of times"),
        ("0.ts", None, "0.ts: missing from the trace"),
        # One rule, which is made of itself.
        (
            "0.cfg",
            b"\1\0\0\0" + b"\xff\xff\xff\xff" + b"\1\0\0\0" + b"\xff\xff\xff\xff" + b"\2\0\0\0",
            "is made of itself",
        ),
    ],
)
def test_damage_is_named_with_file_and_byte(tmp_path: Path, name: str, content: bytes | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pack(harmed(tmp_path, name, content), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_grammar_of_more_calls_than_memory_holds_is_refused(tmp_path: Path) -> None:
    def number(*values: int) -> bytes:
        return b"".join(value.to_bytes(4, "little", signed=True) for value in values)

    # 30 rules, each twice the next: 2^30 calls and more.
    rules = [number(-level, 1, -level - 1, 2) for level in range(1, 30)] + [number(-30, 1, 0, 1 << 30)]
    with pytest.raises(ConfigError, match=r"0\.cfg: too many calls; the file of times has 33"):
        pack(harmed(tmp_path, "0.cfg", number(30) + b"".join(rules)), tmp_path / "run")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            (FOLDERS / "mpi-text" / "1.txt").read_bytes()[:-20],
            r"1.txt:\d+: byte \d+: no call as recorder2text writes them",
        ),
        (None, "texts of ranks 0|not recognized"),
    ],
)
def test_text_cut_off_is_named(tmp_path: Path, content: bytes | None, message: str) -> None:
    name = "1.txt" if content else "0.txt"
    with pytest.raises(ConfigError, match=message):
        pack(harmed(tmp_path, name, content, "mpi-text"), tmp_path / "run")
