"""`halcyon log`: each command's output and exit code."""

import errno
import json
import os
import re
import signal
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from log_containers import PIECE, PIECES, STRIDE, contents, dropping, flip, names, strided, wait_until, waits_for

from halcyon import logfs
from halcyon.cli import main
from halcyon.verbs.log import _COMMANDS

pytest.importorskip("halcyon._logfs", reason="the compiled modules are not built")

SIZE = PIECES * STRIDE - STRIDE + PIECE


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    strided(tmp_path / "file", checks=True)
    return tmp_path / "file"


def said(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> str:
    """On standard output."""
    assert main(["log", *map(str, words)]) == code
    return capfd.readouterr().out


def refused(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int) -> str:
    """On standard error; nothing else is said."""
    assert main(["log", *map(str, words)]) == code
    told = capfd.readouterr()
    assert told.out == ""
    return told.err


def told_json(capfd: pytest.CaptureFixture[str], *words: str | Path, code: int = 0) -> dict[str, object]:
    read: dict[str, object] = json.loads(said(capfd, *words, "--json", code=code))
    assert read.pop("format") == 1
    return read


def test_check_of_a_sound_container(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "check", path)
    assert out == f"{path}: sound; 19.9 kB; 1 writer; 10.0 kB of data compared with their sums\n"
    assert "compared" not in said(capfd, "check", "--no-data", path)
    told = told_json(capfd, "check", path)
    assert told["container"] == str(path)
    assert (told["is_sound"], told["findings"], told["checked_bytes"]) == (True, [], PIECES * PIECE)


def test_check_of_a_damaged_container(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    flip(dropping(path, "data"), 4321)
    (path / "README").write_text("foreign")
    out = said(capfd, "check", path, code=1)
    assert out.startswith(f"{path}: damaged (1 finding); 19.9 kB; 1 writer")
    rows = [line for line in out.splitlines() if line.startswith(("damage ", "note "))]
    assert [row.split()[0] for row in rows] == ["damage", "note"]
    assert "README" in rows[1]
    told = told_json(capfd, "check", path, code=1)
    assert (told["is_sound"], told["damages"], told["losses"]) == (False, 1, 0)


def test_repair_says_what_it_does(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert said(capfd, "repair", path) == f"{path}: nothing to repair\n"
    os.truncate(dropping(path, "data"), 5000)
    foreseen = said(capfd, "repair", "--dry-run", path, code=1)
    assert foreseen.endswith(f"{path}: there is something to repair; 5.00 kB of data are lost\n")
    assert said(capfd, "check", path, code=1)
    lines = said(capfd, "repair", path).splitlines()
    assert re.match(rf"{path}/hostdir\.\d+/index\..*: its data dropping holds 5000 bytes", lines[0])
    assert lines[-1] == f"{path}: repaired; 5.00 kB of data are lost"
    assert said(capfd, "check", path)
    assert said(capfd, "repair", "--dry-run", path) == f"{path}: nothing to repair\n"


def test_repair_waits_for_no_writer_and_says_which(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with logfs.open(path, "r+b", 0) as file:
        file.write(b"x" * 100)
        newest = max(path.glob("hostdir.*/data.*"), key=lambda data: int(data.name.rsplit(".", 1)[1]))
        os.truncate(newest, 50)
        assert f"process {os.getpid()} still has it open" in refused(capfd, "repair", path, code=2)


def test_flatten_beside_and_in_place(path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = contents(path)
    flat = tmp_path / "flat"
    assert said(capfd, "flatten", path, "-o", flat) == f"{flat}: 19.9 kB, 9.90 kB of them in holes\n"
    assert flat.read_bytes() == whole
    flat.write_text("mine")
    assert refused(capfd, "flatten", path, "-o", flat, code=2).startswith(
        f"halcyon: -o {flat}: something has that name"
    )
    assert flat.read_text() == "mine"
    told = told_json(capfd, "flatten", path, "-o", flat, "--force")
    assert told == {"container": str(path), "size": SIZE, "written_bytes": PIECES * PIECE, "conflict_bytes": 0}
    assert flat.read_bytes() == whole
    assert said(capfd, "flatten", "--in-place", path) == f"{path}: 19.9 kB, 9.90 kB of them in holes\n"
    assert path.read_bytes() == whole
    assert names(tmp_path) == ["file", "flat"]


def test_flatten_says_who_has_the_container_open(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with logfs.open(path, "r+b", 0) as file:
        file.write(b"x")
        assert "has it open; flatten it to another name" in refused(capfd, "flatten", "--in-place", path, code=1)
        said(capfd, "flatten", "--in-place", "--ignore-writers", path)
    assert path.is_file()


def test_flatten_wants_to_know_where(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for words in ([path], [path, "--in-place", "-o", "x"]):
        with pytest.raises(SystemExit) as ended:
            main(["log", "flatten", *map(str, words)])
        assert ended.value.code == 2
    assert "one of the arguments -o/--output --in-place is required" in capfd.readouterr().err


def test_flatten_of_damaged_data_fails_unless_they_are_not_verified(
    path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    flip(dropping(path, "data"), 4321)
    flat = tmp_path / "flat"
    assert str(path) in refused(capfd, "flatten", path, "-o", flat, code=1)
    assert not flat.exists()
    # Nothing mends data.
    said(capfd, "repair", path)
    said(capfd, "check", path, code=1)
    said(capfd, "flatten", path, "-o", flat, "--no-verify")
    assert flat.stat().st_size == SIZE


def test_map_lists_parts(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "map", path, "--begin", "200", "--end", "450")
    assert out.startswith(f"{path}: 19.9 kB, 1 writer\n")
    rows = [line.split() for line in out.splitlines()[-3:]]
    assert [row[1:3] for row in rows] == [["200", "300"], ["300", "400"], ["400", "450"]]
    assert [row[0].split("/")[0].split(".")[0] for row in rows] == ["hostdir", "hole", "hostdir"]
    assert (rows[0][-1], rows[1][-1], rows[2][-1]) == ("100", "–", "200")
    assert "the first 2 of the range, --rows shows more" in said(capfd, "map", path, "--rows", "2")
    for verb in ("map", "check"):
        with pytest.raises(SystemExit):
            refused(capfd, verb, path, "--rows", "0", code=2)
        assert "argument --rows: '0'; expected a whole number above 0" in capfd.readouterr().err
    assert "--begin: 'x' is no size" in refused(capfd, "map", path, "--begin", "x", code=2)


def test_map_for_programs_has_all_parts(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    told = told_json(capfd, "map", path, "--rows", "1")
    assert told["size"] == SIZE
    parts = told["parts"]
    assert isinstance(parts, list)
    assert len(parts) == 2 * PIECES - 1
    assert parts[0] == {"start": 0, "length": 100, "physical": 0, "writer": 0}
    assert parts[1] == {"start": 100, "length": 100, "physical": None, "writer": None}
    assert isinstance(told["writers"], list)
    assert told["writers"][0]["pid"] == os.getpid()


def test_stats_prints_figures(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = said(capfd, "stats", path)
    assert out.startswith(f"{path}: a container\n")
    values = dict(re.findall(r"^(\S.*?) {2,}(\S.*)$", out, re.MULTILINE))
    assert values["size of the file"] == "19.9 kB"
    assert values["in holes"] == "9.90 kB"
    assert values["writers"] == values["writers that closed"] == "1"
    told = told_json(capfd, "stats", path)
    assert told["written_bytes"] == PIECES * PIECE
    assert told["index_share"] == logfs.stats(path).index_share


def test_stats_say_why_dead_data_stay(path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "dead data stay" not in said(capfd, "stats", path)
    (path / "punched").write_bytes(struct.pack("<qq", 0, -errno.EOPNOTSUPP))
    assert re.search(r"^dead data stay +Operation not supported$", said(capfd, "stats", path), re.MULTILINE)
    assert told_json(capfd, "stats", path)["why_not_given_back"] == "Operation not supported"


def test_punch_says_what_it_gave_back(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "wb", 0) as file, logfs.open(path, "rb", 0) as reader:
        file.write_at(0, b"1" * 65536)
        reader.refresh()
        reader.read(1)
        file.write_at(0, b"2" * 65536)
        file.sync()
        assert said(capfd, "punch", path).startswith(
            f"{path}: nothing was given back: a reader may still read the 65.5 kB"
        )
        reader.refresh()
        reader.close()
        assert said(capfd, "punch", "--wait", path) == f"{path}: 65.5 kB given back; 65.5 kB are dead in whole blocks\n"
    assert told_json(capfd, "punch", path) == {
        "container": str(path),
        "dead_bytes": 65536,
        "punched_bytes": 0,
        "is_held": False,
    }


def test_export_makes_a_container_of_plfs(path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    whole = contents(path)
    target = tmp_path / "plfs"
    out = said(capfd, "export", "--plfs", path, target)
    assert out == f"{target}: 19.9 kB as a container of PLFS, with 100 records in its index\n"
    assert "File exists" in refused(capfd, "export", "--plfs", path, target, code=1)
    assert said(capfd, "stats", target).startswith(f"{target}: a container of PLFS\n")
    assert "a container of PLFS, which can only be read" in refused(capfd, "check", target, code=2)
    said(capfd, "flatten", "--in-place", target)
    assert target.read_bytes() == whole
    with pytest.raises(SystemExit) as ended:
        main(["log", "export", str(path), str(tmp_path / "other")])
    assert ended.value.code == 2


def test_remove_removes_containers_only(path: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert "no log container" in refused(capfd, "remove", tmp_path, code=2)
    assert said(capfd, "remove", path) == ""
    assert names(tmp_path) == []
    assert "No such file or directory" in refused(capfd, "remove", path, code=1)


@pytest.mark.parametrize("command", ["check", "repair", "map", "stats", "punch"])
def test_a_plain_file_is_a_wrong_argument(tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str) -> None:
    plain = tmp_path / "plain"
    plain.write_text("mine")
    assert refused(capfd, command, plain, code=2) == f"halcyon: {plain}: a file, no log container\n"
    missing = tmp_path / "missing"
    assert refused(capfd, command, missing, code=1).startswith(f"halcyon: {missing}: cannot open: No such file")


@pytest.mark.parametrize("command", _COMMANDS)
def test_help_says_what_the_exit_codes_mean(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["log", command, "--help"])
    assert ended.value.code == 0
    text = " ".join(re.sub(r"\x1b\[[0-9;]*m", "", capfd.readouterr().out).split())
    assert "Exit code 1:" in text
    assert "PATH the container" in text


def test_names_of_files_are_no_markup(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a[bold]b\x1b[31m"
    strided(path)
    assert said(capfd, "check", path).startswith(f"{tmp_path}/a[bold]b\\x1b[31m: sound; ")


def test_ctrl_c_ends_a_wait(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with logfs.open(path, "wb", 0) as file, logfs.open(path, "rb", 0) as reader:
        file.write_at(0, b"1" * 65536)
        reader.refresh()
        reader.read(1)
        file.write_at(0, b"2" * 65536)
        file.sync()
        words = [sys.executable, "-m", "halcyon", "log", "punch", "--wait", str(path)]
        # A shell's background job, as which the tests may run, ignores it.
        with subprocess.Popen(words, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as process:
            wait_until(lambda: process.poll() is not None or waits_for(path / "halcyon-container"))
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == -signal.SIGINT
