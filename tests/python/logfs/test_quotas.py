"""A quota that is used up refuses writes, and nothing else happens to what was written before and is written later."""

import hashlib
import os
import sys
import tempfile
from pathlib import Path

import pytest
from logfs.logged import Place
from quota_disk import FILE_SYSTEMS, NOBODY, quota_disk

from halcyon import logfs

PYTHON = os.path.realpath(sys.executable)
# Small pieces anywhere, so that the index needs block after block; until many were refused, some of them in the midst
# of one.
SCRIPT = """import errno, hashlib, os, random, sys
folder, random_ = sys.argv[1], random.Random(1)
ballast = os.path.dirname(folder) + '/ballast'
with open(ballast, 'wb') as file:
    file.write(b'x' * 1_000_000)
    os.fsync(file)
fd = os.open(folder + '/f', os.O_CREAT | os.O_RDWR)
expected, refused, count = bytearray(), 0, 0

def write(offset, data):
    written = os.pwrite(fd, data, offset)
    expected.extend(bytes(max(offset + written - len(expected), 0)))
    expected[offset:offset + written] = data[:written]

while refused < 30:
    count += 1
    try:
        write(random_.randrange(8_000_000), random_.randbytes(random_.randrange(1, 3000)))
        if refused == 0 and count % 100 == 0:
            os.fsync(fd)
    except OSError as why:
        assert why.errno == errno.EDQUOT, why
        refused += 1
assert os.pread(fd, len(expected) + 1, 0) == expected, 'before'
os.unlink(ballast)
os.sync()
for _ in range(200):
    write(random_.randrange(8_000_000), random_.randbytes(random_.randrange(1, 3000)))
os.fsync(fd)
assert os.pread(fd, len(expected) + 1, 0) == expected, 'behind'
print(count, hashlib.sha256(expected).hexdigest())
"""


@pytest.mark.parametrize("file_system", FILE_SYSTEMS)
@pytest.mark.parametrize("checks", [False, True], ids=["plain", "summed"])
def test_what_exceeds_it_is_refused_and_more_is_taken_when_there_is_room(file_system: str, checks: bool) -> None:
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)  # others may enter it
        with quota_disk(Path(name, "disk"), file_system, 6_000_000) as limited:
            place = Place(limited / "logs", is_logged=True)
            place.directory.mkdir()
            place.directory.chmod(0o777)
            user = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            extra = {"HALCYON_LOG_CHECKS": "1"} if checks else {}
            done = place.run(PYTHON, "-c", SCRIPT, place.directory, extra=extra, **user)
            assert done.returncode == 0, done.stderr
            count, digest = done.stdout.split()
            assert int(count) > 500
            path = place.directory / "f"
            assert [each for each in logfs.check(path).findings if each.weight != "note"] == []
            assert logfs.stats(path).durable_bytes == logfs.stats(path).data_bytes
            with logfs.open(path, "rb", checks=checks) as file:
                assert hashlib.sha256(file.read()).hexdigest() == digest
