"""Calls on files that other programs of these tests do not make. Arguments: a directory, the case. Says what came of
them."""

import ctypes
import errno
import mmap
import os
import select
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

PLACE = Path(sys.argv[1])
C = ctypes.CDLL(None, use_errno=True)


def tell(what: str, call: Callable[..., object], *arguments: Any, **more: Any) -> None:
    try:
        print(what, call(*arguments, **more))
    except OSError as why:
        print(what, errno.errorcode[why.errno or 0])


def opened(name: str, flags: int = os.O_RDWR | os.O_CREAT, text: bytes = b"") -> int:
    """A descriptor, whose position is behind the text."""
    fd = os.open(PLACE / name, flags, 0o644)
    if text:
        os.write(fd, text)
    return fd


def content(name: str) -> bytes:
    return (PLACE / name).read_bytes()


def positions(*descriptors: int) -> list[int]:
    return [os.lseek(fd, 0, os.SEEK_CUR) for fd in descriptors]


def hash_of(fd: int) -> tuple[int, int]:
    seen, at = 0, 0
    while part := os.pread(fd, 65536, at):
        at += len(part)
        for byte in part[::97]:
            seen = (seen * 31 + byte) % 1_000_003
    return at, seen


def waiting() -> None:
    """A file never makes anybody wait; epoll takes none."""
    for access in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR | os.O_NONBLOCK):
        opened("f", text=b"text")
        fd = os.open(PLACE / "f", access, 0o644)
        print([len(each) for each in select.select([fd], [fd], [fd], 0)])
        polled = select.poll()
        polled.register(fd, select.POLLIN | select.POLLOUT | select.POLLPRI)
        print([events for _, events in polled.poll(0)])
        with select.epoll() as several:
            tell("epoll", several.register, fd, select.EPOLLIN)
        os.close(fd)
        tell("select of none", select.select, [fd], [], [], 0)


class Piece(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def by_pieces(name: str, fd: int, parts: list[bytes], offset: int, *flags: int) -> tuple[int, list[bytes]]:
    """preadv and its like, of which Python calls the last ones only. What was moved, and the parts then."""
    buffers = [ctypes.create_string_buffer(part, len(part)) for part in parts]
    pieces = (Piece * len(buffers))(*(Piece(ctypes.addressof(each), len(each)) for each in buffers))
    function = getattr(C, name)
    function.restype = ctypes.c_ssize_t
    moved = function(fd, pieces, len(buffers), ctypes.c_long(offset), *flags)
    if moved < 0:
        raise OSError(ctypes.get_errno(), name)
    return moved, [each.raw for each in buffers]


def pieces() -> None:
    fd = opened("f", text=b"0123456789")
    for suffix, more in (("v", ()), ("v64", ()), ("v2", (0,)), ("v64v2", (0,))):
        os.lseek(fd, 2, os.SEEK_SET)
        for offset in (0, 7, 10, 99, -1, -2):
            tell(f"pread{suffix} {offset}", by_pieces, f"pread{suffix}", fd, [b"???", b"", b"????"], offset, *more)
            print(positions(fd))
        for offset in (0, 15, -1, -2):
            tell(f"pwrite{suffix} {offset}", by_pieces, f"pwrite{suffix}", fd, [b"ab", b"", b"cd"], offset, *more)
            print(content("f"), positions(fd))
    for flags in (os.RWF_SYNC, os.RWF_DSYNC, os.RWF_APPEND, os.RWF_APPEND | os.RWF_SYNC):
        for offset in (3, -1, -2):
            tell(f"flags {flags}", by_pieces, "pwritev2", fd, [b"xyz"], offset, flags)
            print(content("f"), positions(fd))
    tell("no such flag", by_pieces, "pwritev2", fd, [b"x"], 0, 1 << 20)
    tell("no such flag", by_pieces, "preadv2", fd, [b"x"], 0, 1 << 20)
    writes = opened("f", os.O_WRONLY | os.O_APPEND)
    tell("append", os.pwritev, writes, [b"end"], 0)
    tell("reading", os.preadv, writes, [bytearray(1)], 0)
    tell("writing", os.pwritev, opened("f", os.O_RDONLY), [b"x"], 0)
    print(content("f"))


def copies() -> None:
    whole = b"".join(b"%06d\n" % number for number in range(20_000))
    source = opened("source", text=whole)
    to = opened("to")
    os.lseek(source, 0, os.SEEK_SET)
    tell("range", os.copy_file_range, source, to, 70_001)
    tell("at offsets", os.copy_file_range, source, to, 30, 7, 200_000)
    print(positions(source, to))
    tell("to the end", os.copy_file_range, source, to, 1 << 20)
    tell("behind it", os.copy_file_range, source, to, 5)
    print(positions(source, to), hash_of(to))
    long_one = opened("long", text=bytes(range(251)) * 4001)
    tell("more than is moved at a time", os.copy_file_range, long_one, to, 1 << 30, 3, 11)
    print(positions(long_one, to), hash_of(to))
    tell("onto itself", os.copy_file_range, source, source, 100, 0, 50)
    tell("beside itself", os.copy_file_range, source, source, 100, 0, 100)
    tell("itself behind its end", os.copy_file_range, source, source, 100, len(whole), 0)
    tell("not to be read", os.copy_file_range, opened("new", os.O_WRONLY | os.O_CREAT), source, 5)
    tell("not to be written", os.copy_file_range, source, opened("to", os.O_RDONLY), 5, 0)
    appends = opened("new", os.O_WRONLY | os.O_APPEND)
    tell("appending", os.copy_file_range, source, appends, 5, 0)
    C.copy_file_range.restype = ctypes.c_ssize_t
    print("with flags", C.copy_file_range(source, None, to, None, 1, 1), errno.errorcode[ctypes.get_errno()])
    plain = os.memfd_create("plain")
    os.write(plain, whole)
    for come_from, go_to in ((source, to), (plain, to), (source, plain)):
        for offset in (14, 99_999, 140_000, None):
            os.lseek(come_from, 70, os.SEEK_SET)
            tell(f"sendfile {offset}", os.sendfile, go_to, come_from, offset, 50_000)
            print(positions(come_from, go_to), hash_of(go_to))
    # A plain file of the same file system, and pieces that are long, short, and holes.
    beside = os.open(PLACE.parent, os.O_TMPFILE | os.O_RDWR)
    os.ftruncate(long_one, 3_000_000)
    os.pwrite(long_one, whole, 2_500_000)
    os.pwrite(long_one, b"short", 600_000)
    os.lseek(long_one, 100, os.SEEK_SET)
    tell("out", os.copy_file_range, long_one, beside, 1 << 40)
    print(positions(long_one, beside), hash_of(beside))
    tell("out at offsets", os.copy_file_range, long_one, beside, 700_000, 5, 70_000)
    os.lseek(long_one, 0, os.SEEK_SET)
    tell("sent out", os.sendfile, beside, long_one, None, 400_000)
    print(positions(long_one, beside), hash_of(beside))
    os.lseek(beside, 99, os.SEEK_SET)
    tell("in", os.copy_file_range, beside, to, 1 << 40)
    print(positions(beside, to), hash_of(to))
    tell("in at offsets", os.copy_file_range, beside, to, 300_000, 77, 4_000_000)
    os.lseek(beside, 50, os.SEEK_SET)
    tell("sent in", os.sendfile, to, beside, None, 1 << 30)
    print(positions(beside, to), hash_of(to))
    tell("sendfile, appending", os.sendfile, appends, source, 0, 5)
    print(hash_of(source), content("new"))


def pipes() -> None:
    """What is in a pipe is moved, and nobody waits for more."""
    fd = opened("f", text=b"0123456789" * 9000)
    ends = os.pipe()
    os.write(ends[1], b"sixty bytes " * 5)
    tell("in", os.splice, ends[0], fd, 80)
    tell("out", os.splice, fd, ends[1], 50, offset_src=5)
    print(os.read(ends[0], 99), positions(fd))
    tell("empty", os.splice, ends[0], fd, 80, flags=os.SPLICE_F_NONBLOCK)
    tell("as much as fits", os.splice, fd, ends[1], 1 << 20, offset_src=0, flags=os.SPLICE_F_NONBLOCK)
    tell("full", os.splice, fd, ends[1], 80, offset_src=0, flags=os.SPLICE_F_NONBLOCK)
    tell("a place in a pipe", os.splice, ends[0], fd, 80, offset_src=0)
    tell("appending", os.splice, ends[0], opened("f", os.O_WRONLY | os.O_APPEND), 80)
    print(content("f")[-80:])


def systems() -> None:
    fd = opened("f", text=b"text")
    of_all = os.statvfs(PLACE)
    fields = ("f_bsize", "f_frsize", "f_blocks", "f_files", "f_flag", "f_namemax", "f_fsid")
    for which in (PLACE / "f", fd):
        found = os.statvfs(which)
        print([getattr(found, field) == getattr(of_all, field) for field in fields])
    tell("none", os.statvfs, PLACE / "none")
    tell("below a file", os.statvfs, PLACE / "f/none")
    room = [ctypes.create_string_buffer(120) for _ in range(3)]
    print(C.statfs(bytes(PLACE), room[0]), C.statfs(bytes(PLACE / "f"), room[1]), C.fstatfs(fd, room[2]))
    kind_and_size = slice(0, 16)
    print(room[0].raw[kind_and_size] == room[1].raw[kind_and_size] == room[2].raw[kind_and_size])
    print(C.statfs(bytes(PLACE / "none"), room[0]), errno.errorcode[ctypes.get_errno()])


def directories() -> None:
    """A file is none."""
    fd = opened("f", text=b"text")
    tell("chdir", os.chdir, PLACE / "f")
    tell("fchdir", os.fchdir, fd)
    tell("chdir below", os.chdir, PLACE / "f/hostdir.0")
    tell("opendir", os.listdir, PLACE / "f")
    tell("opendir of a descriptor", os.listdir, fd)
    tell("relative", os.open, "x", os.O_RDONLY, dir_fd=fd)
    tell("mkdir", os.mkdir, PLACE / "f")
    tell("rmdir", os.rmdir, PLACE / "f")
    (PLACE / "f").unlink()
    tell("fchdir, gone", os.fchdir, fd)
    os.close(fd)


def direct() -> None:
    """Through memory that is aligned as any device wants it."""
    bytes_of = 8192
    aligned = mmap.mmap(-1, bytes_of)
    aligned[:] = b"d" * bytes_of
    try:
        fd = opened("f", os.O_RDWR | os.O_CREAT | os.O_DIRECT)
    except OSError:  # a plain file of tmpfs, before Linux 6.6
        fd = opened("f")
    print(os.pwrite(fd, aligned, 4096), os.preadv(fd, [aligned], 0), aligned[:4097].count(0), os.fstat(fd).st_size)


NAMES = ("n" * 255, "é" * 127, " " + "x" * 254)


def names() -> None:
    for name in NAMES:
        fd = opened(name, text=name.encode())
        os.fsync(fd)
        print(len(content(name)), os.fstat(fd).st_size, os.stat(PLACE / name).st_size)
        print([len(each) for each in os.listdir(PLACE)])
        other = name[:-1] + "m"
        os.rename(PLACE / name, PLACE / other)
        print(content(other) == name.encode())
        os.close(fd)
        os.close(opened(name))
        os.replace(PLACE / other, PLACE / name)
        print(content(name) == name.encode(), len(os.listdir(PLACE)))
        os.unlink(PLACE / name)
    tell("too long", opened, "n" * 256)
    tell("too long to be there", os.stat, PLACE / ("n" * 256))
    opened("short")
    tell("too long to be moved to", os.rename, PLACE / "short", PLACE / ("n" * 256))
    print(os.listdir(PLACE))


def changes() -> None:
    """What a directory that may not be changed, and files that may not be written, refuse. `written`: by anybody."""
    for name in ("written", "read"):
        for flags in (os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_TRUNC, os.O_CREAT):
            tell(f"open {name} {flags}", lambda *how: os.close(opened(*how)), name, flags)
        tell("read", content, name)
        tell("append", os.write, opened(name, os.O_RDONLY), b"x")
        for mode in (os.R_OK, os.W_OK, os.X_OK):
            print("access", os.access(PLACE / name, mode))
        tell("truncate", os.truncate, PLACE / name, 3)
        tell("chmod", os.chmod, PLACE / name, 0o600)
        tell("utime", os.utime, PLACE / name, (1, 2))
        tell("touch", os.utime, PLACE / name)
        tell("rename", os.rename, PLACE / name, PLACE / "other")
        tell("replace", os.replace, PLACE / "read", PLACE / "written")
        tell("link", os.symlink, "written", PLACE / "link")
        tell("unlink", os.unlink, PLACE / name)
    tell("create", opened, "new")
    tell("create exclusively", opened, "written", os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    tell("create nameless", os.open, PLACE, os.O_TMPFILE | os.O_RDWR)
    tell("mkdir", os.mkdir, PLACE / "inner")
    tell("mknod", os.mknod, PLACE / "node")
    print(sorted(os.listdir(PLACE)), content("written"), content("read"))


CASES = (waiting, pieces, copies, pipes, systems, directories, direct, names, changes)

if __name__ == "__main__":
    next(case for case in CASES if case.__name__ == sys.argv[2])()
