"""--log on the shared volume of a test bed: GlusterFS renames a directory on one storage host after the other, and, as
it is usually mounted, shows for a second what a file was before another host changed it."""

import hashlib
import json
import random
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from mounted_backend import program, wait_until

from halcyon.layers.preload import preloading
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=3, storage=4, mounts=3, brick_bytes=256 << 20)
CACHING = replace(PLAN, caching_mounts=True)
HOSTS = [host.name for host in PLAN.compute_hosts]
FILES = 10
BETWEEN_S = 0.3
BLOCK = 8

pytestmark = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))

WRITES = f"""
import json, os, sys, time
folder, rank, begin = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
failed = []
for number in range({FILES}):
    time.sleep(max(0, begin + number * {BETWEEN_S} - time.time()))
    try:
        fd = os.open(f"{{folder}}/f{{number}}", os.O_CREAT | os.O_WRONLY)
        os.pwrite(fd, bytes([65 + rank]) * {BLOCK}, rank * {BLOCK})
        os.fsync(fd)
        os.close(fd)
    except OSError as why:
        failed.append(f"{{number}}: {{why}}")
print(json.dumps(failed))
"""


READS = """
import os, sys
print([open(f"{sys.argv[1]}/{name}").read() for name in os.listdir(sys.argv[1])])
"""


def logged(bed: Bed, host: str, program: str, *words: object) -> list[str]:
    """The words that run a program of Python on a host, whose first argument is the folder that has logs."""
    folder = str(bed.mounts_of(host)[0] / "logs")
    variables = preloading() | {"HALCYON_LOG": folder}
    loaded = (f"{name}={value}" for name, value in variables.items())
    return ["env", *loaded, sys.executable, "-c", program, folder, *map(str, words)]


@pytest.fixture(scope="module", params=[PLAN, CACHING], ids=["direct", "caching"])
def bed(request: pytest.FixtureRequest) -> Iterator[Bed]:
    with raised(request.param) as standing:
        yield standing


def write_at_once(bed: Bed, words_of: Callable[[str, int, float], list[str]]) -> None:
    begin = time.time() + 3
    running = []
    for rank, host in enumerate(HOSTS):
        running.append(bed.popen(host, words_of(host, rank, begin), stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert json.loads(out) == []


def test_files_that_all_hosts_create_at_once_have_what_each_of_them_wrote(bed: Bed) -> None:
    root = bed.inside(bed.mounts()[0][1])
    (root / "logs").mkdir()
    write_at_once(bed, lambda host, rank, begin: logged(bed, host, WRITES, rank, begin))
    whole = b"".join(bytes([65 + rank]) * BLOCK for rank in range(len(HOSTS)))
    done = bed.run(HOSTS[0], logged(bed, HOSTS[0], READS), capture_output=True)
    assert done.stdout == f"{[whole.decode()] * FILES}\n", done.stderr
    assert not [path.name for path in (root / "logs").iterdir() if path.name.startswith(".halcyon-")]


def test_files_that_all_mounts_create_at_once_have_what_each_of_them_wrote(bed: Bed, tmp_path: Path) -> None:
    root = bed.inside(bed.mounts()[0][1])
    (root / "mounted").mkdir()
    with ExitStack() as stack:
        points = {host: stack.enter_context(mounted_on(bed, host, tmp_path / host)) for host in HOSTS}
        write_at_once(
            bed, lambda host, rank, begin: [sys.executable, "-c", WRITES, str(points[host]), str(rank), str(begin)]
        )
        done = bed.run(HOSTS[0], [sys.executable, "-c", READS, str(points[HOSTS[0]])], capture_output=True)
    whole = b"".join(bytes([65 + rank]) * BLOCK for rank in range(len(HOSTS)))
    assert done.stdout == f"{[whole.decode()] * FILES}\n", done.stderr
    assert not [path.name for path in (root / "mounted").iterdir() if path.stat().st_mode & stat.S_ISVTX]


@contextmanager
def mounted_on(bed: Bed, host: str, point: Path) -> Iterator[Path]:
    """`halcyon mount` on a host, of the folder `mounted` of its mount of the volume."""
    point.mkdir()
    backend = bed.mounts_of(host)[0] / "mounted"
    process = bed.popen(host, [str(program()), "--foreground", str(backend), str(point)])
    try:
        wait_until(lambda: bed.inside(point).is_mount() or process.poll() is not None, "a mount")
        yield point
    finally:
        bed.run(host, [str(program()), "--unmount", "--lazy", str(point)], capture_output=True, check=False)
        process.wait(10)


CHANGES = """
import os, sys
folder = sys.argv[1]
for name in ("g0", "g1", "g2"):
    with open(f"{folder}/{name}", "w") as file:
        file.write(name)
os.rename(f"{folder}/g0", f"{folder}/g1")
os.unlink(f"{folder}/g2")
os.truncate(f"{folder}/g1", 1)
"""


def test_what_one_host_renames_removes_and_flattens_others_see(bed: Bed) -> None:
    root = bed.inside(bed.mounts()[0][1])
    (root / "logs").mkdir(exist_ok=True)
    one, two, three = HOSTS
    assert bed.run(two, logged(bed, two, CHANGES), capture_output=True).stderr == ""
    names = 'import os, sys; print(sorted(n for n in os.listdir(sys.argv[1]) if n[0] == "g"))'
    assert bed.run(three, logged(bed, three, names), capture_output=True).stdout == "['g1']\n"
    for words in (["check"], ["flatten", "--in-place"]):
        done = bed.run(one, [sys.executable, "-m", "halcyon", "log", *words, str(bed.mounts_of(one)[0] / "logs/g1")],
                       capture_output=True)  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert (root / "logs/g1").read_text() == "g"
    read = 'import sys; print(open(f"{sys.argv[1]}/g1").read())'
    assert bed.run(two, logged(bed, two, read), capture_output=True).stdout == "g\n"


OBEYS = """
import hashlib, json, os, sys
path = sys.argv[1] + "/turns"

def opened():
    global fd, end
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    end = os.open(path, os.O_WRONLY | os.O_APPEND)

def text(number, size):
    return bytes((number * 7 + i) % 251 + 1 for i in range(size))

def write(number, offset, size):
    os.pwrite(fd, text(number, size), offset)

def append(number, size):
    os.write(end, text(number, size))

def cut(size):
    os.ftruncate(fd, size)

def sync():
    os.fsync(end)
    os.fsync(fd)

def close():
    os.close(end)
    os.close(fd)

def reopen():
    close()
    opened()

def look():
    there = os.pread(fd, 1 << 22, 0)
    return [len(there), hashlib.md5(there).hexdigest(), os.fstat(fd).st_size]

opened()
for line in sys.stdin:
    name, *words = json.loads(line)
    print(json.dumps(globals()[name](*words)), flush=True)
close()
"""
"""Does what the lines of its standard input say."""


def test_what_one_host_has_synced_others_see_in_whole_and_at_once(bed: Bed) -> None:
    (bed.inside(bed.mounts()[0][1]) / "logs").mkdir(exist_ok=True)
    running = [
        bed.popen(host, logged(bed, host, OBEYS), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for host in HOSTS
    ]

    def do(place: int, *words: object) -> Any:
        process = running[place]
        assert process.stdin is not None
        assert process.stdout is not None
        print(json.dumps(words), file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    rng = random.Random(1)
    there = bytearray()
    for number in range(20 if bed.plan.caching_mounts else 8):
        place = rng.randrange(len(HOSTS))
        for _ in range(rng.choice((1, 1, 5))):
            what = rng.choice(("write", "write", "append", "append", "cut"))
            size = rng.choice((10, 3000, 50000))
            begin = rng.randrange(len(there) + 5000)
            text = bytes((number * 7 + i) % 251 + 1 for i in range(size))
            if what == "write":
                do(place, what, number, begin, size)
                there.extend(bytes(max(0, begin + size - len(there))))
                there[begin : begin + size] = text
            elif what == "append":
                do(place, what, number, size)
                there.extend(text)
            else:
                do(place, what, begin)
                there[begin:] = b""
                there.extend(bytes(begin - len(there)))
        do(place, rng.choice(("sync", "reopen")))
        expected = [len(there), hashlib.md5(there).hexdigest(), len(there)]
        for other in range(len(HOSTS)):
            do(other, rng.choice(("sync", "reopen")))
            assert do(other, "look") == expected, (number, place, other)
    for process in running:
        assert process.communicate(timeout=60) == ("", "")
