"""Asks parallel file systems on which servers a file lies."""

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

LIMIT_S = 10.0
"""For one question: a file system that does not answer must not hold up the packing of a trace."""

_GLUSTER = "trusted.glusterfs.pathinfo"
_BRICK = re.compile(r"<POSIX\((?P<brick>[^)]*)\):(?P<host>[^:>]*):[^>]*>")
_ACTIVE = re.compile(r"^(\d+): \S+ ACTIVE", re.MULTILINE)
_SPREADS = ("REPLICATE", "DISPERSE", "STRIPE", "EC")


@dataclass(frozen=True)
class Layout:
    """Where a file's bytes lie: stripe i of `stripe_bytes` on server i, in turn."""

    servers: tuple[str, ...]
    stripe_bytes: int | None
    """None: the file lies on one server."""


def layout_of(path: Path, file_system: str) -> Layout | None:
    """The layout of a file that is still there; None where there is none, or one that stripes do not describe.

    Lustre is asked by `lfs getstripe` (composite layouts are not described), GlusterFS by the attribute of its native
    client that tells a file's bricks, which only root may read (replicated and dispersed volumes are not described).
    """
    if file_system == "lustre":
        return _of_lustre(path)
    return _of_gluster(path) if file_system == "fuse" else None


def targets_of(directory: Path, file_system: str) -> list[str] | None:
    """The servers, as layouts name them, among which the files of `directory` are placed; None where there is nobody to
    ask. Lustre: targets that are active, by `lfs osts`; GlusterFS: bricks of the directory."""
    if file_system == "lustre":
        told = _lfs("osts", directory)
        return None if told is None else [f"OST{int(index):04x}" for index in _ACTIVE.findall(told)] or None
    return _bricks(directory) if file_system == "fuse" else None


def _of_lustre(path: Path) -> Layout | None:
    told = _lfs("getstripe", "--yaml", path)
    try:
        described: Any = None if told is None else yaml.safe_load(told)
    except yaml.YAMLError:
        return None
    if not isinstance(described, dict) or "lmm_objects" not in described:
        return None
    objects = described["lmm_objects"]
    servers = tuple(f"OST{entry['l_ost_idx']:04x}" for entry in objects)
    return Layout(servers, int(described["lmm_stripe_size"]) if len(servers) > 1 else None)


def _of_gluster(path: Path) -> Layout | None:
    bricks = _bricks(path)
    return Layout((bricks[0],), None) if bricks is not None and len(bricks) == 1 else None


def _lfs(*words: str | Path) -> str | None:
    """What it prints; None: it is not there, failed, or did not answer."""
    if shutil.which("lfs") is None:
        return None
    try:
        told = subprocess.run(["lfs", *words], capture_output=True, text=True, timeout=LIMIT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout


def _bricks(path: Path) -> list[str] | None:
    """Of a file or a directory; None: none are told, or they hold copies or parts of each other's files."""
    try:
        told = os.getxattr(path, _GLUSTER).decode("utf-8", "backslashreplace")
    except OSError:
        return None
    if any(f"<{kind}:" in told for kind in _SPREADS):
        return None
    return [f"{found['host']}:{found['brick']}" for found in _BRICK.finditer(told)] or None
