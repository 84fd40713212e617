"""Where the files of a directory lie: stripes on each storage target, beside what placement at random expects."""

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.models.fit import Fit, fit
from halcyon.models.measurements import MeasuredTargets
from halcyon.observe.file_layout import layout_of, targets_of
from halcyon.observe.file_systems import file_system_at

_CAN_TELL = ("lustre", "fuse")


@dataclass(frozen=True)
class Placed:
    """`left_out`: entries below the directory that count nowhere, by the reason. `stripes_on`: by the target's name,
    as the file system has it; empty for published tables, which have no names."""

    source: str
    file_system: str | None
    files: int
    left_out: dict[str, int]
    total_from: str
    """Who told the number of targets."""
    stripes_on: dict[str, int]
    fit: Fit


def placed_in(directory: Path, total: int | None = None) -> Placed:
    """Of all regular files below `directory`, on its file system. `total`: targets of the file system, which is asked
    where it is None. UsageError: the file system tells no layouts, none of these files has one, or nobody tells how
    many targets there are."""
    file_system = file_system_at(directory)
    if not directory.is_dir():
        raise UsageError(f"{directory}: no such directory; expected one, a CSV file, or a name such as wright:6.5/1")
    if file_system not in _CAN_TELL:
        raise UsageError(f"{directory}: on {file_system}, which tells no layout of files; expected Lustre or GlusterFS")
    left_out: Counter[str] = Counter()
    requests: list[int] = []
    stripes_on: Counter[str] = Counter()
    for path in _files_below(directory, left_out):
        layout = layout_of(path, file_system)
        if layout is None:
            left_out["no layout told"] += 1
        else:
            requests.append(len(set(layout.servers)))
            stripes_on.update(set(layout.servers))
    if not requests:
        raise UsageError(f"{directory}: no file with a layout{_reasons(left_out)}{_WHO[file_system]}")
    names = targets_of(directory, file_system)
    if total is None and names is None:
        raise UsageError(f"--total N is missing: {directory}'s file system does not tell how many targets it has")
    told = fit_of(total or len({*(names or ()), *stripes_on}), requests, stripes_on)
    return Placed(
        str(directory), file_system, len(requests), dict(left_out), "--total" if total else "the file system",
        dict(sorted(stripes_on.items())), told,
    )  # fmt: skip


_WHO = {
    "lustre": ". Lustre is asked by `lfs getstripe`, which must be installed; composite layouts are not described",
    "fuse": ". GlusterFS tells them to root alone, on its native mounts; replicated and dispersed volumes tell none",
}


def placed_as(source: str, measured: MeasuredTargets, total: int | None = None) -> Placed:
    """Of a table. UsageError: it does not add up."""
    stripes = sum(k * targets for k, targets in enumerate(measured.targets))
    files, left = divmod(stripes, measured.request)
    if left:
        raise UsageError(f"{source}: {stripes:,} stripes; expected a multiple of the {measured.request} of each file")
    told = sum(measured.targets)
    free = max((total or told) - told, 0)
    actual = [measured.targets[0] + free, *measured.targets[1:]]
    counted = fit(total or told, [measured.request] * files, actual)
    return Placed(source, None, files, {}, "--total" if total else "the table", {}, counted)


def fit_of(total: int, requests: list[int], stripes_on: Counter[str]) -> Fit:
    """Of files with `requests` stripes each. UsageError: they lie on more targets than there are."""
    if len(stripes_on) > total:
        raise UsageError(f"--total {total:,}; these files lie on {len(stripes_on):,} targets")
    targets = Counter(stripes_on.values())
    actual = [total - len(stripes_on), *(targets[k] for k in range(1, max(targets, default=0) + 1))]
    return fit(total, requests, actual)


def _files_below(directory: Path, left_out: Counter[str]) -> Iterator[Path]:
    """Symbolic links are not followed, and mounts below are not entered."""
    try:
        device = directory.stat().st_dev
    except OSError as why:
        raise HalcyonSystemError.of(why, directory) from why
    unread: Counter[str] = Counter()
    for folder, folders, names in os.walk(directory, onerror=lambda why: unread.update([why.strerror or str(why)])):
        own = [name for name in folders if (Path(folder) / name).lstat().st_dev == device]
        if len(own) < len(folders):
            left_out["directories on another file system"] += len(folders) - len(own)
        folders[:] = sorted(own)
        for name in sorted(names):
            path = Path(folder) / name
            try:
                mode = path.lstat().st_mode
            except OSError:
                left_out["gone meanwhile"] += 1
                continue
            if stat.S_ISREG(mode):
                yield path
            else:
                left_out["symbolic links" if stat.S_ISLNK(mode) else "no regular files"] += 1
    for reason, count in unread.items():
        left_out[f"directories that cannot be read ({reason})"] += count


def _reasons(left_out: Counter[str]) -> str:
    return f" ({'; '.join(f'{reason}: {count:,}' for reason, count in left_out.items())})" if left_out else ""
