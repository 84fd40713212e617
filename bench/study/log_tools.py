#!/usr/bin/env python3
"""Programs of every day on a log container of 1 GiB, through the library, over the same on a plain file (Wright 2014,
table 5.2): a quarter of an hour.

Each container was written by four processes whose pieces of 47 KiB lie between one another; plain file and container
hold the same bytes, and both lie in memory. In each round a program runs on the plain file, on the container, and on
the plain file again (the control), in changing order. What it prints and what it writes is compared: anything that
differs is an error. Expected: at most 10 % longer where the plain file takes a second, else at most 20 ms more
(`tools_missed` counts the programs that take longer). To try it with a hundredth of the data:
`log_tools.py --smaller 100 --rounds 1`.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from rounds import NEEDED, Rounds, count, unmet
from tool_files import Files, digest, make_files

from halcyon.errors import HalcyonError
from halcyon.layers.preload import preloading

ROOM = "logfs"
GIB = 1 << 30
WITHIN = 1.10
MORE_MS = 20.0
LONG_S = 1.0


@dataclass(frozen=True)
class Tool:
    """`words`: for a shell, in which `$f` is the file's name below the current folder, and `$o` a plain file that it
    may make. `into`: it writes into the folder of the file, where the name `$n` is free; `$p` is the plain file. `of`:
    which file."""

    name: str
    words: str
    of: str = "data"
    into: bool = False
    needs: str = ""

    @property
    def program(self) -> str:
        return self.needs or self.words.split()[0]


PYTHON = "import sys; f = open(sys.argv[1], 'rb'); print(sum(len(b) for b in iter(lambda: f.read(1 << 20), b'')))"
TOOLS = (
    Tool("cp_from", "cp $f $o"),
    Tool("cp_into", "cp $p $n", into=True),
    Tool("cat", "cat $f | tail -c 100"),
    Tool("grep", "grep -c 'seven 77' $f"),
    Tool("md5sum", "md5sum $f"),
    Tool("tar", "tar --format=gnu -cf $o $f"),
    Tool("dd", "dd if=$f of=$o bs=1M status=none"),
    Tool("head", "head -c 600M $f > $o"),
    Tool("tail", "tail -c 600M $f > $o"),
    Tool("ls", "ls -l --time-style=full-iso $f"),
    Tool("find", "find . -type f -size +1k -name $f"),
    Tool("rsync", "rsync --whole-file --times $f $o"),
    Tool("python3", f'python3 -c "{PYTHON}" $f'),
    Tool("h5dump", "h5dump -d /field -b NATIVE -o $o $f | head -20", of="field.h5"),
    Tool("sqlite3", "sqlite3 $f 'select count(*), sum(a), max(length(b)) from t; pragma quick_check'", of="table.db"),
)


@dataclass
class Ran:
    """`said`: standard output, and a sum over what was written."""

    seconds: float
    said: str


@dataclass
class Times:
    """Of a tool, over all rounds: seconds on the plain file, on the container, on the plain file again."""

    plain: list[float] = field(default_factory=list)
    log: list[float] = field(default_factory=list)

    @property
    def missed(self) -> bool:
        plain, log = median(self.plain), median(self.log)
        return log > WITHIN * plain if plain >= LONG_S else (log - plain) * 1e3 > MORE_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--smaller", type=float, default=1.0, help="so many times less data; other work may go on")
    parser.add_argument("--rounds", type=int, default=NEEDED)
    parser.add_argument("--folder", type=Path, default=Path("/dev/shm"), help="for the files")
    asked = parser.parse_args()
    size = round(GIB / asked.smaller)
    room = os.statvfs(asked.folder)
    if room.f_bavail * room.f_frsize < 9 * size:
        unmet(ROOM, "tools_missed", f"{asked.folder} has no room for {9 * size >> 20} MiB")
        return 0
    try:
        with tempfile.TemporaryDirectory(dir=asked.folder) as name:
            files = make_files(Path(name), size, [tool.of for tool in TOOLS if shutil.which(tool.program)])
            measure(files, asked)
    except HalcyonError as why:
        print(f"error: {why}", file=sys.stderr)
        return 1
    return 0


def measure(files: Files, asked: argparse.Namespace) -> None:
    times: dict[str, Times] = {}
    for tool in TOOLS:
        if shutil.which(tool.program) is None:
            unmet(ROOM, f"tool_{tool.name}", f"`{tool.program}` is not installed")
            continue
        times[tool.name] = Times()
        for one in Rounds(ROOM, asked.rounds, quiet=asked.smaller == 1):
            measure_round(one, files, tool, times[tool.name])
    missed = [name for name, each in times.items() if each.missed]
    if missed:
        print(f"take too long: {', '.join(missed)}", file=sys.stderr)
    if asked.smaller != 1:
        unmet(ROOM, "tools_missed", f"a trial with {asked.smaller:g} times less data")
    else:
        count(ROOM, "tools_missed", len(missed), "programs")
        count(ROOM, "tools_measured", len(times), "programs")


def measure_round(one: Rounds, files: Files, tool: Tool, times: Times) -> None:
    ran: dict[int, Ran] = {}
    for turn in range(3):
        kind = (turn + one.made) % 3
        ran[kind] = run(files, tool, logged=kind == 0)
    logged, plain, again = ran[0], ran[1], ran[2]
    for other in (logged, again):
        if other.said != plain.said:
            raise SystemExit(f"error: {tool.name} says on one file:\n{plain.said}\nand on the other:\n{other.said}")
    times.plain.append(plain.seconds)
    times.log.append(logged.seconds)
    one.value(f"tool_{tool.name}", logged.seconds / plain.seconds, "ratio")
    one.value(f"tool_{tool.name}_more_ms", (logged.seconds - plain.seconds) * 1e3, "ms")
    one.value(f"tool_{tool.name}_plain_s", plain.seconds, "s")
    one.control(f"tool_{tool.name}_control", again.seconds / plain.seconds)


def run(files: Files, tool: Tool, *, logged: bool) -> Ran:
    """The current folder is that of the file, so that no name differs in what is printed."""
    folder = files.logs if logged else files.plain
    own = {"f": tool.of, "o": str(files.output), "n": "new", "p": str(files.plain / tool.of)}
    environment = os.environ | own | {"LC_ALL": "C"}
    # The shell is preloaded, too, as under `halcyon run --log`.
    environment |= preloading() | {"HALCYON_LOG": str(files.logs)} if logged else {}
    words = ["sh", "-c", f"set -e; {tool.words}"]
    begin_s = time.perf_counter()
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False
    )
    seconds = time.perf_counter() - begin_s
    if done.returncode != 0:
        raise SystemExit(f"error: {tool.words} failed on {folder}/{tool.of}: {done.stderr.strip()}")
    said = done.stdout.replace(str(files.plain), "FOLDER").replace(str(files.logs), "FOLDER")
    if files.output.exists():
        said += digest(files.output, None)
        files.output.unlink()
    if tool.into:
        said += digest(folder / "new", files.logs if logged else None)
        remove(folder / "new")
    return Ran(seconds, said)


def remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)  # a container, as the kernel has it
    else:
        path.unlink()


if __name__ == "__main__":
    sys.exit(main())
