"""Random operations on a container through a mount, and on a plain file: the same comes of both."""

import mmap
import os
import random
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from mounted_backend import Mounted, mounted

OPERATIONS = int(os.environ.get("HALCYON_MOUNT_OPERATIONS", "4000"))
LARGEST = 200_000


class Pair:
    """A container and a plain file that have the same done to them."""

    def __init__(self, container: Path, plain: Path, choose: random.Random) -> None:
        self.paths = [container, plain]
        self.choose = choose
        self.files: list[tuple[int, int]] = []
        for path in self.paths:
            path.touch()
        self.open()

    def both(self, done: Callable[[int], object]) -> None:
        one = self.choose.randrange(len(self.files))
        self.equal(*(done(file) for file in self.files[one]))

    @staticmethod
    def equal(container: object, plain: object) -> None:
        assert container == plain

    def open(self) -> None:
        flags = self.choose.choice([os.O_RDWR, os.O_RDWR, os.O_RDWR | os.O_TRUNC])
        one, other = (os.open(path, flags) for path in self.paths)
        self.files.append((one, other))

    def close(self) -> None:
        if len(self.files) > 1:
            for file in self.files.pop(self.choose.randrange(len(self.files))):
                os.close(file)

    def write(self) -> None:
        data = self.choose.randbytes(self.choose.choice([1, 100, 4096, 5000, 70_000]))
        at = self.choose.randrange(LARGEST)
        self.both(lambda file: os.pwrite(file, data, at))

    def append(self) -> None:
        data = self.choose.randbytes(self.choose.randrange(1, 3000))
        for path in self.paths:
            with path.open("ab") as file:
                file.write(data)

    def read(self) -> None:
        at, size = self.choose.randrange(LARGEST), self.choose.choice([1, 1000, 4096, 100_000])
        self.both(lambda file: os.pread(file, size, at))

    def truncate(self) -> None:
        size = self.choose.randrange(LARGEST)
        self.both(lambda file: os.ftruncate(file, size))

    def punch(self) -> None:
        where = ["-o", str(self.choose.randrange(LARGEST)), "-l", str(self.choose.randrange(1, 50_000))]
        for path in self.paths:
            subprocess.run(["fallocate", "--punch-hole", *where, path], check=True)

    def look(self) -> None:
        self.both(lambda file: os.fstat(file).st_size)
        self.equal(*(path.stat().st_size for path in self.paths))

    def map(self) -> None:
        size = os.fstat(self.files[0][1]).st_size
        if size == 0:
            return
        at, data = self.choose.randrange(size), self.choose.randbytes(10)
        room = min(10, size - at)

        def change(file: int) -> bytes:
            with mmap.mmap(file, size) as mapped:
                mapped[at : at + room] = data[:room]
                mapped.flush()
                return bytes(mapped[:])

        self.both(change)

    def move(self) -> None:
        name = self.choose.choice("abc")
        for number, path in enumerate(self.paths):
            self.paths[number] = path.with_name(name)
            path.rename(self.paths[number])

    def sync(self) -> None:
        self.both(os.fsync)

    def whole(self) -> None:
        self.equal(*(path.read_bytes() for path in self.paths))

    def end(self) -> None:
        for files in self.files:
            for file in files:
                os.close(file)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_operations_do_what_they_do_to_a_plain_file(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed)
    (tmp_path / "plain").mkdir()
    with mounted(tmp_path) as (backend, mount):
        pair = Pair(mount / "a", tmp_path / "plain/a", choose)
        often = [pair.write] * 8 + [pair.read] * 8 + [pair.look] * 3 + [pair.map] * 2 + [pair.truncate] * 2
        seldom = [pair.open, pair.close, pair.append, pair.punch, pair.move, pair.sync, pair.whole]
        for _ in range(OPERATIONS):
            choose.choice(often + seldom)()
        pair.whole()
        pair.end()
        pair.whole()
    with Mounted(backend, tmp_path / "mount"):
        pair.whole()


def test_nodes_that_take_turns_make_what_one_would(tmp_path: Path) -> None:
    choose = random.Random(3)
    plain = tmp_path / "plain"
    plain.touch()
    with mounted(tmp_path) as (backend, mount), Mounted(backend, tmp_path / "second") as second:
        (mount / "file").touch()
        for _ in range(OPERATIONS // 20):
            paths = [choose.choice([mount, second.point]) / "file", plain]
            at, data = choose.randrange(LARGEST), choose.randbytes(choose.randrange(1, 9000))
            cut = choose.randrange(LARGEST) if choose.random() < 0.1 else None
            for path in paths:
                with path.open("r+b", buffering=0) as file:
                    file.seek(at)
                    file.write(data)
                    if cut is not None:
                        file.truncate(cut)
            if choose.random() < 0.3:
                assert paths[0].read_bytes() == plain.read_bytes()
        for point in (mount, second.point):
            assert (point / "file").read_bytes() == plain.read_bytes()
