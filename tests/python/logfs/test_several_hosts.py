"""--log on the shared volume of a test bed: GlusterFS renames a directory on one storage host after the other, and, as
it is usually mounted, shows for a second what a file was before another host changed it."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from halcyon.layers.preload import preloading
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=3, storage=4, mounts=3, brick_bytes=256 << 20)
CACHING = replace(PLAN, caching_mounts=True)
HOSTS = [host.name for host in PLAN.compute_hosts]
FILES = 16
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


def test_files_that_all_hosts_create_at_once_have_what_each_of_them_wrote(bed: Bed) -> None:
    root = bed.inside(bed.mounts()[0][1])
    (root / "logs").mkdir()
    begin = time.time() + 5
    running = []
    for rank, host in enumerate(HOSTS):
        words = logged(bed, host, WRITES, rank, begin)
        running.append(bed.popen(host, words, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, "")
        assert json.loads(out) == []
    whole = b"".join(bytes([65 + rank]) * BLOCK for rank in range(len(HOSTS)))
    done = bed.run(HOSTS[0], logged(bed, HOSTS[0], READS), capture_output=True)
    assert done.stdout == f"{[whole.decode()] * FILES}\n", done.stderr
    assert not [path.name for path in (root / "logs").iterdir() if path.name.startswith(".halcyon-")]


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


TURNS = 12
WORD = "0123456789abcdef"

TAKES_TURNS = f"""
import os, sys
folder, rank, hosts = sys.argv[1], int(sys.argv[2]), {len(HOSTS)}
fd = os.open(f"{{folder}}/turns", os.O_RDWR | os.O_CREAT)
seen = b""
for turn in range({TURNS}):
    sys.stdin.readline()
    if turn % hosts == rank:
        os.pwrite(fd, b"{WORD}" * (1 + turn * 300), len(seen))
        os.fsync(fd)
        print(os.fstat(fd).st_size, flush=True)
    else:
        print("", flush=True)
    sys.stdin.readline()
    os.fsync(fd)
    seen = os.pread(fd, 1 << 20, 0)
    whole = len(seen) // {len(WORD)}
    print(len(seen), seen == b"{WORD}" * whole, os.fstat(fd).st_size, flush=True)
os.close(fd)
"""


def test_what_one_host_has_synced_others_see_in_whole_and_at_once(bed: Bed) -> None:
    (bed.inside(bed.mounts()[0][1]) / "logs").mkdir(exist_ok=True)
    running = [
        bed.popen(host, logged(bed, host, TAKES_TURNS, rank), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                  stderr=subprocess.PIPE)
        for rank, host in enumerate(HOSTS)
    ]  # fmt: skip

    def all_of_them() -> list[str]:
        for process in running:
            print(file=process.stdin, flush=True)
        return [process.stdout.readline().strip() for process in running]

    bytes_there = 0
    for turn in range(TURNS):
        bytes_there += len(WORD) * (1 + turn * 300)
        assert all_of_them()[turn % len(HOSTS)] == str(bytes_there)
        assert all_of_them() == [f"{bytes_there} True {bytes_there}"] * len(HOSTS)
    for process in running:
        assert process.communicate(timeout=60) == ("", "")
