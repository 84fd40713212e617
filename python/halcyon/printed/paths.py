"""Paths for narrow columns: what all have in common is said once."""

import os
from collections.abc import Sequence
from pathlib import PurePath


def common_folder(paths: Sequence[str]) -> str:
    """The folder that all of at least two absolute paths lie below; empty where there is none but `/`."""
    if len(paths) < 2 or not all(path.startswith("/") for path in paths):
        return ""
    folder = os.path.commonpath([PurePath(path).parent for path in paths])
    return "" if folder == "/" else folder


def below(path: str, folder: str) -> str:
    """`path` as seen from `folder`, which is empty or one that it lies in."""
    return path[len(folder) + 1 :] if folder else path


def folded(path: str, width: int) -> str:
    """`path` in lines of at most `width` characters, broken after a `/` where there is one in reach."""
    lines: list[str] = []
    while len(path) > width:
        at = path.rfind("/", 0, width) + 1 or width
        lines.append(path[:at])
        path = path[at:]
    return "\n".join([*lines, path])
