"""Times that a program gives to a file are the file's, whichever way it is looked at."""

import os
from pathlib import Path

from logfs.logged import Place, both, same
from logfs.mounted_backend import Mounted, is_container, mounted

ACCESSED_NS = 1_000_000_000_123_456_789
MODIFIED_NS = 1_100_000_000_987_654_321
SHOWN = "2001-09-09 01:46:40.123456789 +0000 2004-11-09 11:33:20.987654321 +0000\n"


def shown(backend: Path, name: str) -> str:
    """Both times, as stat says them by the backend of `halcyon run --log`."""
    return Place(backend, is_logged=True).run("stat", "-c", "%x %y", backend / name, extra={"TZ": "UTC"}).stdout


def test_times_given_through_a_mount_are_seen_by_the_backend(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        (mount / "file").write_text("text")
        os.utime(mount / "file", ns=(ACCESSED_NS, MODIFIED_NS))
        assert shown(backend, "file") == SHOWN
    assert is_container(backend / "file")
    assert shown(backend, "file") == SHOWN


def test_times_given_through_the_backend_are_seen_by_a_mount(tmp_path: Path) -> None:
    backend = tmp_path / "backend"
    backend.mkdir()
    script = """cd "$1"; echo text > file; touch -a -d @1000000000.123456789 file
        touch -m -d @1100000000.987654321 file"""
    done = Place(backend, is_logged=True).shell(script)
    assert done.returncode == 0, done.stderr
    assert is_container(backend / "file")
    assert shown(backend, "file") == SHOWN
    with Mounted(backend, tmp_path / "mount") as mount:
        status = (mount.point / "file").stat()
        assert (status.st_atime_ns, status.st_mtime_ns) == (ACCESSED_NS, MODIFIED_NS)


def test_a_write_through_one_ends_times_given_through_the_other(tmp_path: Path) -> None:
    with mounted(tmp_path) as (backend, mount):
        log = Place(backend, is_logged=True)
        (mount / "file").write_text("text")
        os.utime(mount / "file", ns=(ACCESSED_NS, MODIFIED_NS))
        assert log.shell('echo more >> "$1"/file').returncode == 0
        with (mount / "file").open() as file:
            assert file.read() == "textmore\n"
            assert os.fstat(file.fileno()).st_mtime > 1_600_000_000
        assert log.shell('touch -d @1000 "$1"/file').returncode == 0
        with (mount / "file").open("a") as file:
            assert int(os.fstat(file.fileno()).st_mtime) == 1000
            file.write("end")
        assert int(log.run("stat", "-c", "%Y", backend / "file").stdout) > 1_600_000_000


def test_times_of_other_centuries(tmp_path: Path) -> None:
    """A number of ns since 1970 ends in 2262."""
    script = """cd "$1"; echo > f
for when in 2300-02-03T04:05:06.789012345Z 1905-01-01T00:00:00.5Z 2262-04-11T23:47:16Z 2262-04-11T23:47:17Z; do
    touch -d $when f; stat -c '%x %y' f
    touch -a -d 2001-01-01 f; stat -c '%x %y' f
done"""
    assert "2300-02-03 04:05:06.789012345" in same(both(tmp_path), script).stdout
