"""A writer that says beforehand what it is about to write, as the applications of Dorier's thesis (2014, section 6.2.2)
do; it takes turns by its calls, as every program under `halcyon run --coordinate` does.

    told_writer.py NAME CALL_BYTES FILE_BYTES FILES FOLDER...

One thread in each folder writes that many files NAME.<number of the folder>.<number of the file>, one after the other,
past the page cache.
"""

import mmap
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from halcyon.turns import Turns


def main(name: str, call_bytes: int, file_bytes: int, files: int, folders: list[str]) -> None:
    data = mmap.mmap(-1, call_bytes)  # aligned, as O_DIRECT wants it
    paths = [[Path(folder, f"{name}.{i}.{file}") for file in range(files)] for i, folder in enumerate(folders)]

    def write(fd: int) -> None:
        for _ in range(file_bytes // call_bytes):
            os.write(fd, data)
        os.close(fd)

    def write_all(own: list[Path]) -> None:
        for path in own:
            write(_open(path))

    with Turns(folders[0]) as turns, ThreadPoolExecutor(len(folders)) as pool:
        first = _open(paths[0][0])  # here it waits at a gate
        turns.prepare(nbytes=len(folders) * files * file_bytes)
        turns.inform()
        others = [pool.submit(write_all, own) for own in paths[1:]]
        write(first)
        write_all(paths[0][1:])
        for one in others:
            one.result()
        turns.release()
        turns.complete()


def _open(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5:])
