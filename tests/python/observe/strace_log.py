"""What strace saw of a command: its system calls on files, without those that Halcyon's library made itself."""

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LIBRARY = "libhalcyon-io.so"

_LINE = re.compile(
    r"^\[([0-9a-f?]+)\] (\w+)\((.*)\)\s+= (0x[0-9a-f]+|-?\d+|\?)(?:<[^>]*>(?:\(deleted\))?)?(?: (E\w+))?"
)
_DESCRIPTOR = re.compile(r"^(-?\d+|AT_FDCWD)<(.*)>(\(deleted\))?$")

_ON_DESCRIPTOR = {
    "close": "close",
    "read": "read",
    "pread64": "read",
    "readv": "read",
    "preadv": "read",
    "preadv2": "read",
    "write": "write",
    "pwrite64": "write",
    "writev": "write",
    "pwritev": "write",
    "pwritev2": "write",
    "sendfile": "copy",
    "lseek": "seek",
    "fsync": "sync",
    "fdatasync": "sync",
    "sync_file_range": "sync",
    "syncfs": "sync",
    "ftruncate": "resize",
    "fallocate": "resize",
    "fstat": "stat",
    "fstatfs": "stat",
    "fgetxattr": "stat",
    "flistxattr": "stat",
    "fchmod": "namespace",
    "fchown": "namespace",
    "fsetxattr": "namespace",
    "fadvise64": "control",
    "ioctl": "control",
    "getdents64": "directory",
}
_ON_PATH = {
    "open": "open",
    "creat": "open",
    "truncate": "resize",
    "stat": "stat",
    "lstat": "stat",
    "access": "stat",
    "readlink": "stat",
    "statfs": "stat",
    "getxattr": "stat",
    "lgetxattr": "stat",
    "listxattr": "stat",
    "llistxattr": "stat",
    "unlink": "namespace",
    "rename": "namespace",
    "link": "namespace",
    "mkdir": "namespace",
    "rmdir": "namespace",
    "mknod": "namespace",
    "chmod": "namespace",
    "chown": "namespace",
    "lchown": "namespace",
    "utime": "namespace",
    "utimes": "namespace",
    "setxattr": "namespace",
    "lsetxattr": "namespace",
}
_ON_PATH_AT = {
    "openat": "open",
    "openat2": "open",
    "newfstatat": "stat",
    "statx": "stat",
    "faccessat": "stat",
    "faccessat2": "stat",
    "readlinkat": "stat",
    "unlinkat": "namespace",
    "renameat": "namespace",
    "renameat2": "namespace",
    "linkat": "namespace",
    "mkdirat": "namespace",
    "mknodat": "namespace",
    "fchmodat": "namespace",
    "fchownat": "namespace",
    "utimensat": "namespace",
    "futimesat": "namespace",
}
_STARTS_PROCESS = {"clone", "clone3", "fork", "vfork"}
_OTHERS = {"execve", "mmap", "chdir", "fchdir", "fcntl", "flock", "copy_file_range", "splice", "symlink", "symlinkat"}


@dataclass(frozen=True)
class FileCall:
    """One system call on a file."""

    name: str
    kind: str
    path: str
    moved: int


@dataclass
class _Process:
    directory: str
    ours: list[range] = field(default_factory=list)
    borrowed: bool = False
    """Runs in its parent's memory, until it becomes another program."""


def run_under_strace(command: list[str], directory: Path, log: Path, variables: dict[str, str]) -> int:
    """Runs `command` in `directory` with `variables`, one log `<log>.<thread id>` per thread; its exit code."""
    settings = [word for name, value in variables.items() for word in ("-E", f"{name}={value}")]
    # The others run at full speed: ranks that wait for each other make millions of them. An architecture that has not
    # all of these does not mind ("?").
    looked_at = "trace=" + ",".join(
        f"?{name}" for name in sorted({*_ON_DESCRIPTOR, *_ON_PATH, *_ON_PATH_AT, *_STARTS_PROCESS, *_OTHERS})
    )
    strace = ["strace", "-ff", "-y", "-i", "-s", "0", "-e", looked_at, "--seccomp-bpf", "-o", str(log)]
    words = ["setarch", "-R", *strace, *settings, *command]
    return subprocess.run(words, cwd=directory, stdin=subprocess.DEVNULL, check=False, timeout=300).returncode


def file_calls(log: Path, directory: Path) -> list[FileCall]:
    """The calls that the logs of run_under_strace tell of, whose file lies in `directory`."""
    parts = {int(part.suffix[1:]): part for part in log.parent.glob(log.name + ".*")}
    children: set[int] = set()
    texts = {pid: part.read_text(errors="replace").splitlines() for pid, part in parts.items()}
    for lines in texts.values():
        for line in lines:
            if (match := _LINE.match(line)) and match[2] in _STARTS_PROCESS and match[4].isdigit():
                children.add(int(match[4]))
    first = min(parts.keys() - children)
    loader = _loader()
    prefix = str(directory) + "/"
    return [
        call
        for call in _walk(first, _Process(str(directory)), texts, loader)
        if call.path == str(directory) or call.path.startswith(prefix)
    ]


def _loader() -> range:
    """Where the dynamic linker lies in each program that setarch -R starts."""
    maps = subprocess.run(["setarch", "-R", "cat", "/proc/self/maps"], capture_output=True, text=True, check=True)
    lines = [line for line in maps.stdout.splitlines() if "/ld-linux" in line]
    begin, end = lines[0].split("-")[0], lines[-1].split("-")[1].split()[0]
    return range(int(begin, 16), int(end, 16))


def _walk(pid: int, process: _Process, texts: dict[int, list[str]], loader: range) -> Iterator[FileCall]:
    for line in texts.get(pid, []):
        match = _LINE.match(line)
        if match is None:
            continue
        pointer, name, arguments, result, error = match.groups()
        if name == "execve" and error is None:
            process.ours.clear()
            process.borrowed = False
            continue
        at = int(pointer, 16) if "?" not in pointer else 0
        words = _split(arguments)
        if name == "mmap" and at in loader and f"/{LIBRARY}>" in arguments and result.startswith("0x"):
            begin = int(result, 16)
            process.ours.append(range(begin, begin + int(words[1], 0)))
        if name in _STARTS_PROCESS and result.isdigit():
            borrowed = name == "vfork" or "CLONE_VFORK" in arguments
            # A thread sees its process's directory; a copy is good enough for tests whose threads do not change it.
            child = _Process(process.directory, list(process.ours), borrowed)
            yield from _walk(int(result), child, texts, loader)
        if at in loader or any(at in ours for ours in process.ours) or process.borrowed:
            continue
        if name == "chdir" and error is None:
            process.directory = os.path.normpath(_joined(process.directory, _unquoted(words[0])))
        if name == "fchdir" and error is None and (where := _DESCRIPTOR.match(words[0])):
            process.directory = where[2]
        yield from _call(process, name, words, int(result) if result.lstrip("-").isdecimal() else 0)


def _call(process: _Process, name: str, words: list[str], result: int) -> Iterator[FileCall]:
    kind, path = None, None
    if name in _ON_DESCRIPTOR:
        kind, path = _ON_DESCRIPTOR[name], _path_of(words[0])
    elif name == "fcntl" and words[1] in ("F_SETLK", "F_SETLKW", "F_OFD_SETLK", "F_OFD_SETLKW"):
        kind, path = "unlock" if "F_UNLCK" in words[2] else "lock", _path_of(words[0])
    elif name == "flock":
        kind, path = "unlock" if "LOCK_UN" in words[1] else "lock", _path_of(words[0])
    elif name in ("copy_file_range", "splice"):
        kind, path = "copy", _path_of(words[2])
    elif name == "mmap":
        kind, path = "map", _path_of(words[4])
    elif name in ("symlink",):
        kind, path = "namespace", _joined(process.directory, _unquoted(words[1]))
    elif name in ("symlinkat",):
        kind, path = "namespace", _joined(_path_of(words[1]) or "?", _unquoted(words[2]))
    elif name in _ON_PATH:
        kind, path = _ON_PATH[name], _joined(process.directory, _unquoted(words[0]))
    elif name in _ON_PATH_AT:
        # Of an empty path, the descriptor itself is meant.
        start = process.directory if words[0].startswith("AT_FDCWD") else _path_of(words[0]) or "?"
        kind, path = _ON_PATH_AT[name], _joined(start, _unquoted(words[1]) if words[1] != "NULL" else "")
    if kind is not None and path is not None:
        moved = result if kind in ("read", "write", "copy") and result > 0 else 0
        yield FileCall(name, kind, os.path.normpath(path), moved)


def _joined(directory: str, path: str) -> str:
    return str(Path(directory, path))


def _path_of(word: str) -> str | None:
    match = _DESCRIPTOR.match(word)
    return match[2] if match else None


def _unquoted(word: str) -> str:
    return word.strip('"')


def _split(arguments: str) -> list[str]:
    """At commas that are in no brackets and no quotes."""
    words, depth, quoted, word = [], 0, False, ""
    for character in arguments:
        if character == '"':
            quoted = not quoted
        elif not quoted and character in "{[(<":
            depth += 1
        elif not quoted and character in "}])>":
            depth -= 1
        if character == "," and depth == 0 and not quoted:
            words.append(word.strip())
            word = ""
        else:
            word += character
    return [*words, word.strip()]
