"""halcyon.logfs: what is done with whole containers."""

import errno
import os
import socket
from pathlib import Path

import numpy as np
import pytest
from log_containers import PIECE, PIECES, STRIDE, contents, dropping, flip, names, strided

from halcyon import logfs
from halcyon.errors import ConfigError, UnavailableError, UsageError

pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file"


def test_a_sound_container_has_no_findings(path: Path) -> None:
    strided(path, checks=True)
    report = logfs.check(path)
    assert report.is_sound
    assert report.findings == ()
    assert (report.size, report.writers, report.open_writers) == (PIECES * STRIDE - STRIDE + PIECE, 1, 0)
    assert report.checked_bytes == PIECES * PIECE
    assert logfs.check(path, data=False).checked_bytes == 0
    assert logfs.repair(path).done == ()


def test_lost_data_are_found_and_their_container_is_mended(path: Path, tmp_path: Path) -> None:
    whole = strided(path)
    os.truncate(dropping(path, "data"), PIECES * PIECE // 2)
    report = logfs.check(path)
    assert not report.is_sound
    assert (report.damages, report.losses) == (1, 0)
    (finding,) = report.findings
    assert finding.what == "it is shorter than at its writer's last sync"
    assert finding.concerns == "bytes 5000 to 10000 of it"
    with pytest.raises(ConfigError, match=r"data\."):
        contents(path)
    with pytest.raises(ConfigError):
        logfs.flatten(path, tmp_path / "flat")
    assert names(tmp_path) == ["file"]
    foreseen = logfs.repair(path, dry_run=True)
    assert foreseen.rewritten == 0
    assert not logfs.check(path).is_sound
    done = logfs.repair(path)
    assert (done.rewritten, done.cut_bytes) == (1, PIECES * PIECE // 2)
    assert len(foreseen.done) == len(done.done) - 1
    assert logfs.check(path).is_sound
    assert contents(path) == whole[: PIECES * STRIDE // 2 - STRIDE + PIECE]


def test_what_was_not_synced_is_a_loss(path: Path) -> None:
    with logfs.open(path, "wb", 0) as file:
        file.write(bytes(100))
        file.sync()
        file.write(bytes(100))
    os.truncate(dropping(path, "data"), 150)
    report = logfs.check(path)
    assert (report.is_sound, report.damages, report.losses) == (True, 0, 1)
    assert report.findings[0].concerns == "bytes 150 to 200 of it"


def test_damage_to_an_index_is_found_and_what_is_sound_is_kept(path: Path) -> None:
    whole = strided(path)
    # The header stands twice.
    flip(dropping(path, "index"), 20)
    report = logfs.check(path)
    assert report.damages == 1
    assert report.findings[0].concerns == "nothing: the copy of its header is sound"
    assert logfs.repair(path).rewritten == 1
    assert logfs.check(path).is_sound
    assert contents(path) == whole


def test_damage_to_data_is_found_where_there_are_sums(path: Path) -> None:
    strided(path, checks=True)
    flip(dropping(path, "data"), 4321)
    report = logfs.check(path)
    (finding,) = report.findings
    assert finding.weight == "damage"
    assert finding.where.startswith("hostdir.")
    assert "its bytes do not fit their check sum" in finding.what
    assert "of the file" in finding.concerns
    assert logfs.check(path, data=False).is_sound


def test_flatten_makes_a_sparse_file_and_tells_how_far_it_is(path: Path, tmp_path: Path) -> None:
    with logfs.open(path, "wb", 0, permissions=0o640) as file:
        file.write_at(1 << 30, b"end")
    seen: list[tuple[int, int]] = []
    done = logfs.flatten(path, tmp_path / "flat", progress=lambda *told: seen.append(told))
    assert (done.size, done.written_bytes) == ((1 << 30) + 3, 3)
    assert seen[-1] == (done.size, done.size)
    there = (tmp_path / "flat").stat()
    assert there.st_size == done.size
    assert there.st_blocks * 512 < 1 << 20
    assert there.st_mode & 0o777 == logfs.status(path).permissions


def test_what_a_progress_raises_ends_the_call_and_leaves_nothing(path: Path, tmp_path: Path) -> None:
    strided(path)

    def stops(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        logfs.flatten(path, progress=stops)
    with pytest.raises(KeyboardInterrupt):
        logfs.export_plfs(path, tmp_path / "plfs", progress=stops)
    assert names(tmp_path) == ["file"]
    assert logfs.is_container(path)


def test_a_container_that_is_open_gives_up_its_place_only_when_told(path: Path) -> None:
    with logfs.open(path, "wb", 0) as file:
        file.write(b"hello")
        with pytest.raises(UnavailableError, match=f"process {os.getpid()} of .* has it open"):
            logfs.flatten(path)
        logfs.flatten(path, ignore_writers=True)
        assert path.read_bytes() == b"hello"


def test_a_map_says_where_each_part_lies(path: Path) -> None:
    with logfs.open(path, "wb", 0) as one, logfs.open(path, "wb", 0) as other:
        one.write_at(0, bytes(100))
        other.write_at(200, bytes(50))
        one.write_at(250, bytes(10))
    found = logfs.map(path)
    assert (found.size, found.is_whole, len(found)) == (260, True, 4)
    assert found.start.tolist() == [0, 100, 200, 250]
    assert found.length.tolist() == [100, 100, 50, 10]
    assert found.physical.tolist() == [0, -1, 0, 100]
    assert found.length.dtype == np.int64
    first, hole, second, third = found.writer.tolist()
    assert hole == -1
    assert first == third != second
    for writer in found.writers:
        assert (writer.host, writer.pid) == (socket.gethostname(), os.getpid())
        assert (writer.rank, writer.is_closed) == (None, True)
        assert (path / writer.data).is_file()
    part = logfs.map(path, 50, 220)
    assert list(zip(part.start.tolist(), part.length.tolist(), strict=True)) == [(50, 50), (100, 100), (200, 20)]
    first_two = logfs.map(path, most=2)
    assert (len(first_two), first_two.is_whole) == (2, False)
    assert len(logfs.map(path, 1000)) == 0
    with pytest.raises(UsageError):
        logfs.map(path, -1)


def test_figures_count_what_is_there(path: Path) -> None:
    strided(path)
    figures = logfs.stats(path)
    assert not figures.is_plfs
    assert figures.size - figures.hole_bytes == PIECES * PIECE == figures.written_bytes == figures.data_bytes
    assert (figures.writers, figures.hosts, figures.writes, figures.segments) == (1, 1, PIECES, PIECES)
    assert figures.index_share == figures.index_bytes / figures.written_bytes
    assert figures.space_amplification is not None
    logfs.open(path, "wb").close()
    assert logfs.stats(path).space_amplification is None


def test_dead_data_are_given_back(path: Path) -> None:
    with logfs.open(path, "wb", 0) as file:
        file.write_at(0, b"1" * (1 << 20))
        file.write_at(0, b"2" * (1 << 20))
        file.sync()
        try:
            done = logfs.punch(path)
        except OSError as why:
            if why.errno == errno.EOPNOTSUPP:
                pytest.skip("this file system cannot give blocks back")
            raise
        assert (done.dead_bytes, done.punched_bytes, done.is_held) == (1 << 20, 1 << 20, False)
    assert contents(path) == b"2" * (1 << 20)


def test_dead_data_stay_while_a_reader_may_read_them(path: Path) -> None:
    with logfs.open(path, "wb", 0) as file, logfs.open(path, "rb", 0) as reader:
        file.write_at(0, b"1" * 65536)
        reader.refresh()
        assert reader.read(1) == b"1"
        file.write_at(0, b"2" * 65536)
        file.sync()
        assert logfs.punch(path).is_held
        assert reader.readall() == b"1" * 65535


def test_a_container_of_plfs_reads_as_the_one_that_was_exported(path: Path, tmp_path: Path) -> None:
    whole = strided(path)
    target = tmp_path / "plfs"
    done = logfs.export_plfs(path, target)
    assert (done.size, done.written_bytes, done.records) == (len(whole), PIECES * PIECE, PIECES)
    assert (target / ".plfsaccess113918400").is_file()
    assert logfs.is_container(target)
    assert logfs.stats(target).is_plfs
    assert contents(target) == whole
    with pytest.raises(UsageError, match="which can only be read"):
        logfs.open(target, "r+")
    with pytest.raises(FileExistsError):
        logfs.export_plfs(path, target)
    logfs.flatten(target)
    assert target.read_bytes() == whole


def test_what_is_removed_is_gone_and_nothing_else(path: Path, tmp_path: Path) -> None:
    strided(path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="no log container"):
        logfs.remove(tmp_path / "folder")
    logfs.remove(path)
    assert names(tmp_path) == ["folder"]
    with pytest.raises(FileNotFoundError):
        logfs.remove(path)


@pytest.mark.parametrize("tool", [logfs.check, logfs.repair, logfs.flatten, logfs.stats, logfs.map, logfs.status])
def test_tools_refuse_what_is_no_container(tool: "object", path: Path) -> None:
    assert callable(tool)
    with pytest.raises(FileNotFoundError):
        tool(path)
    path.write_text("mine")
    with pytest.raises(UsageError, match="a file, no log container"):
        tool(path)
    assert path.read_text() == "mine"


def test_a_forked_child_keeps_nothing_from_being_given_back(path: Path) -> None:
    told, tell = os.pipe()
    with logfs.open(path, "wb", 0) as file, logfs.open(path, "rb", 0) as reader:
        file.write_at(0, b"1" * 65536)
        reader.refresh()
        assert reader.read(1) == b"1"
        child = os.fork()
        if child == 0:
            os.close(tell)
            os.read(told, 1)
            os._exit(0)
        file.write_at(0, b"2" * 65536)
        file.sync()
        assert logfs.punch(path).is_held
        reader.close()
        done = logfs.punch(path)
    os.close(tell)
    os.close(told)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (done.is_held, done.punched_bytes) == (False, 65536)
