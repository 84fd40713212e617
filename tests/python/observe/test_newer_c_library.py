"""Programs that were built for a newer C library than this machine's are recorded as others are."""

from itertools import pairwise
from pathlib import Path

from recorded_program import compiled, recorded

NAMES = ("fscanf", "vfscanf", "fwscanf", "vfwscanf", "scanf", "vscanf", "wscanf", "vwscanf")


def test_scanf_by_its_names_of_today(tmp_path: Path) -> None:
    directory = (tmp_path / "files").resolve()
    directory.mkdir()
    for name in NAMES:
        (directory / name).write_text("7" * 99 + " " + "8" * 19_900)
    library = compiled("newer_c_library.c", tmp_path, "-DLIBRARY", "-shared", "-fPIC")
    program = compiled("newer_c_library.c", tmp_path, str(library), "-Wl,--no-as-needed", f"-Wl,-rpath,{tmp_path}")
    run = recorded([program, directory], tmp_path / "run")
    assert run.code == 0, run.complaints
    for name in NAMES:
        assert [c["call"] for c in run.calls_on(directory / name) if c["level"] == "stdio"].count("fscanf") == 1, name
        expected = 20_000 if name == "fscanf" else 4096
        assert run.moved(directory / name, "read") == expected, name
    reads = [(c["offset"], c["moved"]) for c in run.calls_on(directory / "fscanf") if c["call"] == "stdio read"]
    assert reads[0] == (0, 4096)
    assert all(at == before + moved for (before, moved), (at, _) in pairwise(reads))
