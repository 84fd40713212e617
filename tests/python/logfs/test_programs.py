"""Longer programs see on log containers what they see on plain files."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from logfs.logged import Place, both

PROGRAMS = Path(__file__).resolve().parents[1] / "calls/programs"


def outputs(places: tuple[Place, Place], *command: object) -> list[str]:
    done = [place.run(*command, place.directory) for place in places]
    return [f"{one.stdout}{one.stderr}exit status {one.returncode}" for one in done]


def test_a_long_script_of_a_shell(tmp_path: Path) -> None:
    text = (PROGRAMS / "shell.sh").read_text()
    script = tmp_path / "shell.sh"
    lines = text.splitlines(keepends=True)
    script.write_text("".join(line for line in lines if not line.startswith('ln "$1/d/log"')))
    assert script.read_text() != text, "the line about hard links, of which there are none, was not found"
    plain, logged = outputs(both(tmp_path), "dash", script)
    assert logged == plain


def test_a_long_program_of_python(tmp_path: Path) -> None:
    text = (PROGRAMS / "calls.py").read_text()
    # Stores into a shared mapping are refused (test_what_is_refused).
    cut, count = re.subn(r"    with open\(f\"\{top\}/m\", \"w\+b\"\).*?\[4999:5004\]\)\n", "", text, flags=re.DOTALL)
    assert count == 1
    script = tmp_path / "calls.py"
    script.write_text(cut)
    plain, logged = outputs(both(tmp_path), sys.executable, "-B", script)
    assert logged == plain
    assert plain.endswith("False\nexit status 0")


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_databases(tmp_path: Path) -> None:
    text = (PROGRAMS / "database.sh").read_text()
    script = tmp_path / "database.sh"
    script.write_text(text.replace(" memory wal;", " memory;"))
    assert script.read_text() != text
    plain, logged = outputs(both(tmp_path), "dash", script)
    assert logged == plain


@pytest.mark.skipif(shutil.which("sqlite3") is None, reason="sqlite3 is not installed")
def test_two_processes_with_one_database(tmp_path: Path) -> None:
    places = both(tmp_path)
    script = """cd "$1"; sqlite3 d.db 'create table t(a integer primary key, b)'
        for who in a b; do (i=0; while [ $i -lt 40 ]; do i=$((i+1))
            sqlite3 -cmd '.timeout 60000' d.db "insert into t(b) values('$who$i')" || echo failed; done) & done; wait
        sqlite3 d.db 'select count(*), count(distinct b) from t; pragma integrity_check'"""
    for place in places:
        done = place.shell(script)
        assert done.stdout == "80|80\nok\n", done.stderr


def test_what_is_refused(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    script = """import errno, mmap, os, sys
with open(sys.argv[1] + '/f', 'w+b') as f:
    f.truncate(10000)
    try:
        mmap.mmap(f.fileno(), 10000)
    except OSError as error:
        print(errno.errorcode[error.errno])
    with mmap.mmap(f.fileno(), 10000, prot=mmap.PROT_READ) as mapped:
        print(mapped[:5])
"""
    done = place.run(sys.executable, "-c", script, place.directory)
    assert done.stdout == "ENODEV\nb'\\x00\\x00\\x00\\x00\\x00'\n"
    assert "a writable shared mapping of a log container was refused (ENODEV)" in done.stderr


MAPPED = """import mmap, sys
with open(sys.argv[1], "rb") as file:
    mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    print(mapped[:5], mapped[-5:], "memfd:halcyon-copy" in open("/proc/self/maps").read())
"""


@pytest.mark.parametrize(("most", "in_memory"), [("", True), ("1000000", False)])
def test_mappings_lie_in_memory_as_far_as_its_user_says(tmp_path: Path, most: str, in_memory: bool) -> None:
    place = both(tmp_path)[1]
    place.shell('seq 1000000 > "$1/f"')
    extra = {"HALCYON_LOG_MAPPED": most, "TMPDIR": str(tmp_path)}
    done = place.run(sys.executable, "-c", MAPPED, place.directory / "f", extra=extra)
    assert done.stdout == f"{b'1' + bytes([10]) + b'2' + bytes([10]) + b'3'} {b'0000' + bytes([10])} {in_memory}\n"


def test_a_mapping_for_which_there_is_no_room_is_refused(tmp_path: Path) -> None:
    place = both(tmp_path)[1]
    place.shell('seq 1000000 > "$1/f"')
    extra = {"HALCYON_LOG_MAPPED": "1000000", "TMPDIR": "/dev/shm"}
    done = place.run(sys.executable, "-c", MAPPED, place.directory / "f", extra=extra)
    assert "Cannot allocate memory" in done.stderr
    assert "halcyon: a mapping of 6888896 bytes of a log container was refused (ENOMEM)" in done.stderr
