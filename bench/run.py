"""Runs benchmarks and prints their figures: `run.py room [ROOM [NAME]]`, `run.py study NAME`.

A benchmark is a program in $HALCYON_BUILD/bench/<room>/ or an executable script in bench/<room>/; one of both with the
same name is the script, which knows how to start the program, for example under MPI. A study is an executable script in
bench/study/; one script may hold several: `delta-equal` is the script `delta`, started with the word `equal`, a key of
STUDIES in delta_studies.py beside it. What they print becomes figures by rule.py; what is none of that goes to
standard error.
"""

import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from rule import NEEDED, Figures

ROOT = Path(__file__).resolve().parents[1]
BENCH = ROOT / "bench"
PROGRAMS = Path(os.environ["HALCYON_BUILD"]) / "bench"
STUDY = "study"


def main(arguments: list[str]) -> int:
    kind, *names = arguments
    found = _study(names) if kind == STUDY else _benchmarks_of(names)
    failed = [name for name, command in found.items() if not _run(name, command)]
    if failed:
        _say(f"error: failed or not met: {', '.join(failed)}")
    return 1 if failed else 0


def _benchmarks_of(names: list[str]) -> dict[str, list[str]]:
    rooms = sorted(path.name for path in BENCH.iterdir() if path.is_dir() and path.name not in (STUDY, "__pycache__"))
    if not rooms:
        raise SystemExit("error: no room has benchmarks yet (folders of bench/)")
    room, name = (*names, None, None)[:2]
    if room is not None and room not in rooms:
        raise SystemExit(f"error: ROOM={room} has no benchmarks; rooms that have: {' '.join(rooms)}")
    found: dict[str, list[str]] = {}
    for one in [room] if room else rooms:
        for file in (*_executables(BENCH / one, (".sh", ".py")), *_executables(PROGRAMS / one, ("",))):
            found.setdefault(f"{one}/{file.stem}", _command(file))
    if name is None:
        return found
    if f"{room}/{name}" not in found:
        raise SystemExit(f"error: {room} has no benchmark '{name}'; it has: {' '.join(found)}")
    return {f"{room}/{name}": found[f"{room}/{name}"]}


def _study(names: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for file in _executables(BENCH / STUDY, (".sh", ".py")):
        words = _words_of(file)
        found |= {f"{file.stem}-{word}": [*_command(file), word] for word in words} or {file.stem: _command(file)}
    name = names[0] if names else ""
    if name not in found:
        raise SystemExit(f"error: no study '{name}'; studies: {' '.join(sorted(found)) or 'none yet'}")
    return {f"{STUDY}/{name}": found[name]}


def _words_of(script: Path) -> list[str]:
    """The studies that a script holds; none: it is a study by itself."""
    table = script.with_name(f"{script.stem}_studies.py")
    if not table.exists():
        return []
    sys.path.insert(0, str(table.parent))
    return sorted(import_module(table.stem).STUDIES)


def _executables(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    if not folder.is_dir():
        return []
    files = sorted(path for path in folder.iterdir() if path.is_file() and os.access(path, os.X_OK))
    return [path for path in files if path.suffix in endings]


def _command(file: Path) -> list[str]:
    return [sys.executable, str(file)] if file.suffix == ".py" else [str(file)]


def _run(name: str, command: list[str]) -> bool:
    """Shows the figures of one benchmark; False: it failed, has none, or one that is not met."""
    _say(f"==> {name}")
    figures = Figures()
    environment = os.environ | {"HALCYON_BENCH_ROUNDS": str(NEEDED), "PYTHONPATH": _with_bench()}
    # In a folder of its own: what a benchmark writes is gone afterwards.
    with (
        tempfile.TemporaryDirectory() as scratch,
        subprocess.Popen(
            command, cwd=scratch, env=environment, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
        ) as process,
    ):
        assert process.stdout is not None
        for line in map(str.rstrip, process.stdout):
            counts, rounds = figures.counts, figures.rounds
            if not figures.feed(line):
                _say(line)
            elif figures.counts > counts:
                print(line, flush=True)
            elif figures.rounds > rounds and figures.last_failed:
                _say(f"round {figures.rounds} does not count: {figures.last_failed}")
    figures.end()
    ended = f"the benchmark ended with status {process.returncode}" if process.returncode else None
    for line in figures.lines(ended):
        print(line, flush=True)
    for remark in figures.remarks():
        _say(remark)
    if ended:
        _say(f"error: {name}: {ended}")
    if not figures.any:
        _say(f"error: {name} printed no figure")
    return not ended and figures.any and not figures.not_met


def _with_bench() -> str:
    """Rounds and rules, and the table of studies, whose data benchmarks read."""
    return ":".join(filter(None, [str(BENCH), str(BENCH / STUDY), os.environ.get("PYTHONPATH")]))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
