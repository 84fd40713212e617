"""halcyon run --log --log-checks: of data that have changed on the disk, no program reads a byte."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
from logfs.log_containers import dropping, flip
from logfs.logged import halcyon

PIECE = 65536
"""That writers sum together, at least."""


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    path = tmp_path / "logs"
    path.mkdir()
    return path


@pytest.fixture
def text(logs: Path, tmp_path: Path) -> bytes:
    """What is in the log container `f`, written with sums."""
    data = random.Random(1).randbytes(5 * PIECE + 123)
    (tmp_path / "plain").write_bytes(data)
    done = halcyon("run", "--log", logs, "--log-checks", "--", "cp", tmp_path / "plain", logs / "f")
    assert done.returncode == 0, done.stderr
    return data


def read(logs: Path, *options: object, begin: int = 0, count: int = 1 << 20) -> subprocess.CompletedProcess[bytes]:
    """By tail and head of the shell, from a place on."""
    script = f"tail -c +{begin + 1} {logs}/f | head -c {count}"
    words = [sys.executable, "-m", "halcyon", "run", "--log", str(logs), *map(str, options), "--", "sh", "-c", script]
    return subprocess.run(words, capture_output=True, timeout=300, check=False)


def test_what_has_changed_is_an_error_and_all_else_is_right(logs: Path, text: bytes) -> None:
    data = dropping(logs / "f", "data")
    for place in (0, 2 * PIECE + 7, 5 * PIECE + 122):
        flip(data, place)
        done = read(logs, "--log-checks")
        assert b"Input/output error" in done.stderr
        assert b"do not fit their check sum" in done.stderr
        assert str(data).encode() in done.stderr
        assert text.startswith(done.stdout)
        assert len(done.stdout) <= place
        # The byte itself, too, is what the option is for: without it, nothing is compared.
        assert read(logs).stdout != text
        flip(data, place)
    done = read(logs, "--log-checks")
    assert done.stdout == text
    assert b"error" not in done.stderr


def test_what_was_not_summed_together_with_it_can_be_read(logs: Path, text: bytes) -> None:
    flip(dropping(logs / "f", "data"), 10)
    far = 3 * PIECE
    done = read(logs, "--log-checks", begin=far)
    assert done.stdout == text[far:], done.stderr


def test_a_mapping_is_an_error_too(logs: Path, text: bytes) -> None:
    script = (
        "import mmap, sys\n"
        f"with open({str(logs / 'f')!r}, 'rb') as file:\n"
        "    try:\n"
        "        print(len(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)))\n"
        "    except OSError as why:\n"
        "        print(why.errno)\n"
    )
    command = ("run", "--log", logs, "--log-checks", "--", sys.executable, "-c", script)
    assert halcyon(*command).stdout.split() == [str(len(text))]
    flip(dropping(logs / "f", "data"), 4 * PIECE)
    assert halcyon(*command).stdout.split() == ["5"]


def test_containers_without_sums_are_read_as_ever(logs: Path) -> None:
    halcyon("run", "--log", logs, "--", "sh", "-c", f"echo text > {logs}/f")
    done = halcyon("run", "--log", logs, "--log-checks", "--", "sh", "-c", f"cat {logs}/f; echo more >> {logs}/f")
    assert done.stdout == "text\n", done.stderr
    assert read(logs).stdout == b"text\nmore\n"
