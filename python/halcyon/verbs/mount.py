"""`halcyon mount BACKEND MOUNTPOINT`"""

import argparse
import os
from pathlib import Path

SUMMARY = "show log containers as plain files, to any program"
DESCRIPTION = (
    "Mounts the directory BACKEND at MOUNTPOINT by FUSE 3. Programs see the containers below BACKEND as plain files, "
    "whether they are preloaded, linked statically, or know nothing of Halcyon; all that is no container they see as "
    "it is. A new file becomes a container: each node that mounts BACKEND writes a log of its own. The command returns "
    "when the mount is there, and a process in the background serves it until it is unmounted."
)

_VARIABLE = "HALCYON_MOUNT"
_PROGRAM = "halcyon-mount"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--foreground", action="store_true", help="serve it in this process; log to standard error")
    parser.add_argument(
        "--new-files",
        choices=("container", "plain"),
        default="container",
        help="what a new file becomes (default: %(default)s)",
    )
    parser.add_argument("--read-only", action="store_true", help="nothing can be changed")
    parser.add_argument(
        "--allow-other",
        action="store_true",
        help="other users may use it, too: for root, or where /etc/fuse.conf says user_allow_other",
    )
    parser.add_argument(
        "--xattr", action="store_true", help="extended attributes, too; the kernel then asks for one at each write"
    )
    parser.add_argument("--data-checks", action="store_true", help="write check sums over the data, too")
    parser.add_argument("--threads", metavar="N", type=int, help="answer requests, at most (default: 10)")
    parser.add_argument(
        "--log-file", metavar="FILE", type=Path, help="for reasons of failures (default: the system's log)"
    )
    parser.add_argument("--unmount", action="store_true", help="end a mount, also one whose process was killed")
    parser.add_argument(
        "--lazy",
        action="store_true",
        help="with --unmount: also while programs use it; it ends when the last of its files is closed",
    )
    parser.add_argument("backend", metavar="BACKEND", nargs="?", help="the directory that holds containers")
    parser.add_argument("mount_point", metavar="MOUNTPOINT", help="an existing directory; may be BACKEND itself")


def run(arguments: argparse.Namespace) -> int:
    from halcyon.errors import HalcyonSystemError, UnavailableError
    from halcyon.installed_program import find_installed

    words = _words(arguments)
    try:
        program = find_installed(_PROGRAM, _VARIABLE)
    except UnavailableError as why:
        hint = "It is built where libfuse 3 is installed (Debian: libfuse3-dev, and fuse3 for users other than root)"
        raise UnavailableError(f"{why}. {hint}") from None
    try:
        os.execv(program, [str(program), *words])
    except OSError as why:
        raise HalcyonSystemError.of(why, program) from why


def _words(arguments: argparse.Namespace) -> list[str]:
    """The command line of the program. UsageError: what was given does not fit together."""
    from halcyon.errors import UsageError

    if arguments.unmount:
        if arguments.backend is not None:
            raise UsageError("--unmount takes one path: halcyon mount --unmount MOUNTPOINT")
        return ["--unmount", *(["--lazy"] if arguments.lazy else []), "--", arguments.mount_point]
    if arguments.backend is None:
        raise UsageError("two paths are needed: halcyon mount BACKEND MOUNTPOINT")
    if arguments.lazy:
        raise UsageError("--lazy makes sense with --unmount only")
    if arguments.threads is not None and not 1 <= arguments.threads <= 1024:
        raise UsageError(f"--threads {arguments.threads}: expected 1 to 1024")
    flags = ("foreground", "read_only", "allow_other", "xattr", "data_checks")
    words = ["--" + flag.replace("_", "-") for flag in flags if getattr(arguments, flag)]
    words.append(f"--new-files={arguments.new_files}")
    if arguments.threads is not None:
        words.append(f"--threads={arguments.threads}")
    if arguments.log_file is not None:
        words.append(f"--log-file={arguments.log_file}")
    return [*words, "--", arguments.backend, arguments.mount_point]
