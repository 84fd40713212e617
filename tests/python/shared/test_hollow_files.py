"""Files with a hole, which seem larger than any memory: of text they are refused at once with their name."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("halcyon._core", reason="the compiled modules are not built")

DATA = Path(__file__).resolve().parents[2] / "data"
TIB = 1 << 40
ADDRESSES = 8 << 30
"""Enough for every library, and far less than the hole: a command that reads on fails, and takes no machine with it."""


def halcyon(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "halcyon", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES)),
    )


@pytest.mark.parametrize(
    ("verb", "name", "begin"),
    [
        ("convert", "damaris.xml", "<simulation/>"),
        ("check", "halcyon.yaml", "halcyon: 1\n"),
        ("view", "run.json", '{"simulation": "tiny"}'),
        ("summary", "run.json", '{"format": 1}'),
        ("diff", "run.json", '{"approach": "halcyon"}'),
        ("analyze", "recording.json", '{"version": 1}'),
    ],
)
def test_a_file_of_text_with_a_hole_is_refused(verb: str, name: str, begin: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text(begin)
    os.truncate(file, TIB)
    place = file if verb in ("convert", "check") else tmp_path
    done = halcyon(verb, place, *([place] if verb == "diff" else []))
    assert done.returncode == (2 if verb == "diff" else 1), done.stderr
    assert "Traceback" not in done.stderr
    if verb != "diff":  # it goes by the HDF5 files alone where run.json says nothing
        assert f"{name}: byte {len(begin)} is zero" in done.stderr


def test_a_data_set_whose_description_has_a_hole_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(DATA / "predict/openfoam/3", data)
    os.truncate(data / "run.json", TIB)
    done = halcyon("analyze", data)
    assert done.returncode == 1, done.stderr
    assert "is zero, which no text has" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_log_with_a_hole_behind_it_is_read(tmp_path: Path) -> None:
    log = tmp_path / "log.darshan"
    shutil.copy(DATA / "darshan/ior-hdf5.darshan", log)
    os.truncate(log, TIB)
    done = halcyon("analyze", log)
    assert done.returncode == 0, done.stderr
    assert "ior" in done.stdout
