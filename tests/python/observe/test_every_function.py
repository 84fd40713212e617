"""Every interposed function, by each of its names, is recorded as what it is, with what it moved."""

import re
from pathlib import Path

import pytest
from recorded_program import Run, compiled, recorded

TABLE = Path(__file__).resolve().parents[3] / "src/calls/record/table.def"
ON_NO_FILE_OF_ITS_OWN = {
    "sync", "lio_listio", "lio_listio64", "aio_suspend", "aio_suspend64", "fcloseall", "tmpfile", "tmpfile64",
    "close_range", "closefrom",
}  # fmt: skip
"""Recorded, but on no file or on one without a name of the test's choosing."""
NEVER_RETURN = {"_exit", "dlclose", "longjmp", "fork", "exec", "posix_spawn", "syscall", "setuid", "getcwd"}
"""Functions that are interposed for what they do to processes, to their code and to the recording."""
MPI = re.compile(r"^(MPI_|PMPI_|H5)")


def symbols() -> dict[str, str]:
    """Name of the function in traces, by symbol."""
    text = TABLE.read_text()
    names = dict(re.findall(r'^FUNCTION\((\w+), "([^"]+)"', text, re.MULTILINE))
    rows = re.findall(r"^(?:SYMBOL|WRITTEN)\((\w+), (\w+)", text, re.MULTILINE)
    return {symbol: names[function] for symbol, function in rows if not MPI.match(symbol)}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Path]:
    folder = tmp_path_factory.mktemp("every")
    directory = (folder / "files").resolve()
    directory.mkdir()
    program = compiled("every_function.c", folder)
    result = recorded([program, directory], folder / "run", extra={"TOLD": str(folder / "told")})
    assert result.code == 0, result.complaints
    return result, directory


def test_all_symbols_are_called() -> None:
    parts = (Path(__file__).resolve().parents[2] / "calls" / "every_function").iterdir()
    source = "".join(part.read_text() for part in parts)
    missing = [symbol for symbol in symbols() if f'"{symbol}"' not in source]
    assert missing == []


def test_calls_are_recorded_as_what_they_are(run: tuple[Run, Path]) -> None:
    result, directory = run
    found: set[tuple[str, str]] = set()
    for call in result.calls:
        stem = Path(call["path"]).name.split(".")[0] if call["path"].startswith(f"{directory}/") else ""
        found.add((stem, call["call"].split("(")[0]))
        found.add(("", call["call"].split("(")[0]))
    missing = []
    for symbol, function in symbols().items():
        name = function.split("(")[0]
        if name in NEVER_RETURN:
            continue
        stem = "" if symbol in ON_NO_FILE_OF_ITS_OWN else symbol
        if (stem, name) not in found:
            missing.append((symbol, function))
    assert missing == []


def test_transfers_have_their_bytes(run: tuple[Run, Path]) -> None:
    result, directory = run
    told = [line.split() for line in (directory.parent / "told").read_text().splitlines()]
    assert len(told) > 150
    wrong = []
    for name, kind, moved in told:
        recorded_bytes = result.moved(directory / name, kind)
        if recorded_bytes != int(moved):
            wrong.append((name, kind, int(moved), recorded_bytes))
    assert wrong == []


def test_writes_end_at_the_size_of_the_file(run: tuple[Run, Path]) -> None:
    result, directory = run
    wrong = []
    for path in directory.iterdir():
        ends = [
            c["offset"] + c["moved"]
            for c in result.calls_on(path)
            if c["kind"] in ("write", "copy") and c["level"] == "posix" and (c["moved"] or 0) > 0
        ]
        if ends and max(ends) != path.stat().st_size and not path.name.startswith("aio"):
            wrong.append((path.name, ends, path.stat().st_size))
    assert wrong == []


def test_programs_that_were_started_are_recorded(run: tuple[Run, Path]) -> None:
    result, _ = run
    ended = [row["ended"] for row in result.rows("processes")]
    assert ended.count("exec") == 9
    assert ended.count("abort") == 1
    assert "killed" not in ended
