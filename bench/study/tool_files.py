"""The files of log_tools.py: each as a plain file and as a log container with the same bytes."""

import hashlib
import os
import sqlite3
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np

from halcyon import logfs
from halcyon.errors import HalcyonSystemError
from halcyon.layers.preload import preloading

WRITERS = 4
PIECE = 47 << 10
_MIB = 1 << 20
_LINE = 64
WRITTEN_S = 1_700_000_000
"""Both are as old, so that listings and archives are the same."""

COPY = """
import os, sys
source, target, writer, writers, piece = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
size = os.stat(source).st_size
of, to = os.open(source, os.O_RDONLY), os.open(target, os.O_CREAT | os.O_WRONLY, 0o644)
for at in range(writer * piece, size, writers * piece):
    data = os.pread(of, min(piece, size - at), at)
    assert os.pwrite(to, data, at) == len(data)
os.close(to)
"""


@dataclass(frozen=True)
class Files:
    """`logs`: files below are log containers. `output`: where programs may make a plain file."""

    plain: Path
    logs: Path
    output: Path


def make_files(folder: Path, size: int, names: Collection[str]) -> Files:
    """HalcyonSystemError: a container is not what it should be."""
    files = Files(folder / "plain", folder / "logs", folder / "output")
    for path in (files.plain, files.logs):
        path.mkdir()
    makers = {"data": make_text, "field.h5": make_field, "table.db": make_table}
    for name in dict.fromkeys(names):
        makers[name](files.plain / name, size)
        copy_in_pieces(files.plain / name, files.logs / name, files.logs)
        expected, found = digest(files.plain / name, None), digest(files.logs / name, files.logs)
        if found != expected:
            raise HalcyonSystemError(f"{files.logs / name}: other bytes than {files.plain / name}")
    return files


def make_text(path: Path, size: int) -> None:
    """Lines of numbers in words, so that `grep` finds some."""
    numbers = np.random.default_rng(1).integers(0, 1000, size // _LINE)
    with path.open("wb") as file:
        for begin in range(0, len(numbers), _MIB // _LINE):
            part = numbers[begin : begin + _MIB // _LINE]
            lines = [f"line {begin + i} seven {number} of a file with many writers" for i, number in enumerate(part)]
            file.write("".join(f"{line:<{_LINE - 1}}\n" for line in lines).encode())


def make_field(path: Path, size: int) -> None:
    values = size // 8
    with h5py.File(path, "w") as file:
        field = file.create_dataset("field", (values,), "f8")
        for begin in range(0, values, _MIB):
            end = min(begin + _MIB, values)
            field[begin:end] = np.arange(begin, end, dtype="f8")


def make_table(path: Path, size: int) -> None:
    row = 1000
    database = sqlite3.connect(path)
    with database:
        database.execute("create table t(a integer primary key, b blob)")
        database.executemany("insert into t(b) values(?)", ((os.urandom(row),) for _ in range(size // (row + 30))))
    database.close()


def copy_in_pieces(source: Path, target: Path, logs: Path) -> None:
    """By so many processes at a time, whose pieces lie between one another."""
    environment = os.environ | preloading() | {"HALCYON_LOG": str(logs)}
    words = [sys.executable, "-c", COPY, source, target]
    writers = [
        subprocess.Popen([*map(str, words), str(i), str(WRITERS), str(PIECE)], env=environment) for i in range(WRITERS)
    ]
    statuses = [one.wait() for one in writers]
    if any(statuses):
        raise HalcyonSystemError(f"{target}: a process that writes it failed")
    if not (target / "halcyon-container").is_file():
        raise HalcyonSystemError(f"{target} is no log container")
    os.utime(source, (WRITTEN_S, WRITTEN_S))
    touch = f"import os; os.utime({str(target)!r}, ({WRITTEN_S}, {WRITTEN_S}))"
    subprocess.run([sys.executable, "-c", touch], env=environment, check=True)


def digest(path: Path, logs: Path | None) -> str:
    """Of a file's bytes. `logs`: it is a container."""
    sums = hashlib.sha256()
    with logfs.open(path, "rb") if logs else path.open("rb") as file:
        while data := file.read(_MIB):
            sums.update(data)
    return sums.hexdigest()
