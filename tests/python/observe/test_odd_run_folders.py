"""Folders of runs that were tampered with, or whose names are no text, are read, or refused with a reason."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from recorded_program import Run, recorded
from small_disk import small_disk

from halcyon.errors import ConfigError, UsageError
from halcyon.observe.analysis.find_runs import find_runs
from halcyon.observe.open_run import open_run
from halcyon.observe.pack import pack
from halcyon.observe.recording.folder import NAME, Recording

WAITS = b"waiting for another command to be done with it"
NOT_UTF8 = os.fsdecode(b"not \xff utf-8")


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return recorded(["cat", "/etc/hostname"], tmp_path / "run")


def halcyon(*words: object, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "halcyon", *map(str, words)]
    return subprocess.run(command, check=False, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_a_command_of_words_that_are_not_utf8(tmp_path: Path) -> None:
    (tmp_path / NOT_UTF8).write_text("12345")
    run = recorded(["cat", tmp_path / NOT_UTF8], tmp_path / "run")
    assert run.data.info.command == rf"cat {tmp_path}/not \udcff utf-8"
    assert run.moved(rf"{tmp_path}/not \xff utf-8", "read") == 5


@pytest.mark.parametrize(
    "words", [["analyze"], ["analyze", "--json"], ["advise"], ["report", "-o", NOT_UTF8 + ".html"]]
)
def test_a_folder_whose_name_is_not_utf8_is_read(tmp_path: Path, run: Run, words: list[str]) -> None:
    place = tmp_path / NOT_UTF8 / "run"
    place.parent.mkdir()
    run.folder.rename(place)
    done = halcyon(*words, place, cwd=tmp_path, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_no_data_set_has_a_name_that_is_not_utf8(tmp_path: Path, run: Run) -> None:
    with pytest.raises(UsageError, match="its path is not UTF-8"):
        pack(run.folder, tmp_path / NOT_UTF8)
    assert not (tmp_path / NOT_UTF8).exists()


def test_a_damaged_trace_is_named_also_where_its_name_is_not_utf8(tmp_path: Path, run: Run) -> None:
    place = run.folder.rename(tmp_path / NOT_UTF8)
    trace = next((place / "trace").iterdir())
    trace.write_bytes(trace.read_bytes()[:40])
    with pytest.raises(ConfigError, match=r"utf-8/trace/.*: offset 16: the file ends within a section"):
        pack(place, tmp_path / "data")


def test_traces_may_be_removed_when_they_are_packed(run: Run) -> None:
    calls = len(run.calls)
    shutil.rmtree(run.folder / "trace")
    with open_run(run.folder) as dataset:
        assert sum(batch.num_rows for batch in dataset.batches("calls")) == calls > 0


def test_keys_that_no_recording_has_are_refused(run: Run) -> None:
    path = run.folder / NAME
    path.write_text(path.read_text().replace('"host"', '"hosT"'))
    with pytest.raises(ConfigError, match=r"recording\.json: hosT: no recording has such a key"):
        Recording.read(run.folder)


@pytest.mark.parametrize(
    ("key", "value"), [("command", 1), ("command", [1]), ("user", None), ("environment", []), ("start", "then")]
)
def test_values_that_no_recording_writes_are_refused(run: Run, key: str, value: object) -> None:
    path = run.folder / NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(ConfigError, match=rf"recording\.json: {key}: "):
        Recording.read(run.folder)


def test_a_pipe_among_traces_is_refused(tmp_path: Path, run: Run) -> None:
    os.mkfifo(run.folder / "trace" / "pipe.trace")
    with pytest.raises(ConfigError, match=r"pipe\.trace: offset 0: a folder, pipe or device"):
        pack(run.folder, tmp_path / "data")


def test_a_pipe_is_no_log(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.darshan")
    with pytest.raises(ConfigError, match=r"pipe\.darshan: a pipe, socket or device"):
        pack(tmp_path / "pipe.darshan", tmp_path / "data")


def test_what_several_links_lead_to_is_one_run(tmp_path: Path, run: Run) -> None:
    (tmp_path / "again").symlink_to(run.folder)
    (tmp_path / "self").symlink_to(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    found = find_runs(tmp_path)
    assert [os.path.realpath(path) for path in found.runs] == [os.path.realpath(run.folder)]
    assert [one.name for one in found.unread] == ["loop"]


def test_a_packed_run_is_packed_anew_when_a_trace_is_newer(run: Run) -> None:
    assert b"data set of a trace" in halcyon("pack", run.folder, stdout=subprocess.PIPE).stdout
    manifest = run.folder / "data" / "run.json"
    before = manifest.stat().st_mtime_ns
    again = halcyon("pack", run.folder, stdout=subprocess.PIPE)
    assert (again.returncode, manifest.stat().st_mtime_ns) == (0, before)
    assert again.stdout == f"{run.folder}/data: packed already; remove it to have it packed anew\n".encode()
    newer = before + 10**9
    os.utime(next((run.folder / "trace").glob("*.trace")), ns=(newer, newer))
    assert halcyon("pack", run.folder).returncode == 0
    assert manifest.stat().st_mtime_ns > before


def test_output_for_which_there_is_no_room(run: Run) -> None:
    with Path("/dev/full").open("wb") as full:
        done = halcyon("analyze", run.folder, stdout=full)
    assert done.returncode == 1
    assert done.stderr == b"halcyon: standard output or a temporary file: No space left on device\n"


def test_a_run_without_space_for_what_it_is_leaves_no_folder(tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "64k") as small:
        (small / "filling").write_bytes(bytes(64 << 10))
        done = halcyon("run", "--trace", "-o", small / "run", "--", "true")
        assert done.returncode == 1
        assert b"run/recording.json: No space left on device" in done.stderr
        assert not (small / "run").exists()


def test_a_run_whose_end_cannot_be_told_keeps_the_exit_code(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    done = halcyon("run", "--trace", "-o", folder, "--", "sh", "-c", f"rm -r {folder}; exit 7")
    assert done.returncode == 7
    assert b"recording.json: No such file or directory; how the command ended is not recorded" in done.stderr


@pytest.mark.parametrize("table", ["calls/part-00000", "counters", "facts", "files"])
def test_a_flipped_bit_in_a_data_set_is_found(tmp_path: Path, run: Run, table: str) -> None:
    pack(run.folder, tmp_path / "data")
    path = tmp_path / "data" / f"{table}.parquet"
    whole = path.read_bytes()
    for offset in range(4, len(whole), len(whole) // 9):
        damaged = bytearray(whole)
        damaged[offset] ^= 1 << offset % 8
        path.write_bytes(damaged)
        with (
            pytest.raises(ConfigError, match=rf"{table}\.parquet: checksum .*: the file is damaged"),
            open_run(path.parents[table.count("/")]),
        ):
            pass


def test_commands_that_pack_one_run_at_once_take_turns(run: Run) -> None:
    command = [sys.executable, "-m", "halcyon", "analyze", "--json", str(run.folder)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    children = [subprocess.Popen(command, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    ends = [(*child.communicate(), child.returncode) for child in children]
    assert {code for _, _, code in ends} == {0}
    assert all(WAITS in line for _, error, _ in ends for line in error.splitlines())
    assert len({output for output, _, _ in ends}) == 1


def test_a_run_that_is_read_is_not_packed_anew(run: Run) -> None:
    with open_run(run.folder) as dataset:
        os.utime(run.folder / NAME)
        command = [sys.executable, "-m", "halcyon", "analyze", "--json", run.folder]
        other = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert other.stderr is not None
        assert WAITS in other.stderr.readline()
        assert sum(batch.num_rows for batch in dataset.batches("calls")) > 0
    assert other.communicate()[0]
    assert other.returncode == 0
