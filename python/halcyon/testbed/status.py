"""A test bed in words."""

import os
from dataclasses import dataclass

from rich.console import Console

from halcyon.printed.tables import print_table
from halcyon.quantities import percent, plural, rate, seconds, size
from halcyon.testbed import place
from halcyon.testbed.bed import Bed, Daemon
from halcyon.testbed.check import Checked
from halcyon.testbed.plan import Host, rate_text


@dataclass(frozen=True)
class HostStatus:
    """One host. `link_bits_per_s`: 0 where its link has no limit; room in bytes, of storage hosts."""

    name: str
    address: str
    link_bits_per_s: int
    burst_bytes: int | None
    mounts: list[str]
    room_bytes: int | None
    free_bytes: int | None


@dataclass(frozen=True)
class Status:
    """A bed that stands. `holder`: the process that owns it."""

    holder: int
    hosts: list[HostStatus]
    slurm: bool
    ended: list[Daemon]
    """Daemons that should run, and do not."""


def status_of(bed: Bed) -> Status:
    """Now."""
    plan = bed.plan
    compute = [
        HostStatus(host.name, host.address, plan.compute_link_bits_per_s, None,
                   [str(path) for path in bed.mounts_of(host.name)], None, None)
        for host in plan.compute_hosts
    ]  # fmt: skip
    return Status(
        bed.holder, [*compute, *(_storage(bed, host) for host in plan.storage_hosts)], plan.slurm, bed.ended_daemons()
    )


def _storage(bed: Bed, host: Host) -> HostStatus:
    room = os.statvfs(bed.inside(place.BRICKS / host.name))
    plan = bed.plan
    return HostStatus(
        host.name, host.address, plan.storage_link_bits_per_s, plan.burst_bytes, [],
        room.f_blocks * room.f_frsize, room.f_bavail * room.f_frsize,
    )  # fmt: skip


def print_status(told: Status, console: Console) -> None:
    """A row per host; then daemons that have ended."""
    rows = [
        [
            one.name, one.address, rate_text(one.link_bits_per_s),
            "" if one.burst_bytes is None else size(one.burst_bytes),
            "" if one.free_bytes is None else f"{size(one.free_bytes)} of {size(one.room_bytes)}",
            _mounts(one.mounts),
        ]
        for one in told.hosts
    ]  # fmt: skip
    title = f"test bed of process {told.holder}{', with Slurm' if told.slurm else ''}"
    print_table(console, title, ["host", "address", "link", "burst", "free", "mounts"], rows, words=0, most=len(rows))
    for daemon in told.ended:
        console.print(f"\n{daemon.name} has ended: {daemon.how}", soft_wrap=True)


def _mounts(paths: list[str]) -> str:
    if len(paths) < 2:
        return "".join(paths)
    return f"{paths[0]} to {paths[-1].rsplit('/', 1)[1]}"


def print_checked(checked: Checked, console: Console) -> None:
    """A row per round, the medians, and what speaks against measuring here."""
    rows = [
        [f"{i}", seconds(one.alone_s), f"{one.beside_computing:.2f}", seconds(one.together_s), f"{one.factor:.2f}",
         f"{one.overlap_share:.2f}"]
        for i, one in enumerate(checked.rounds, start=1)
    ]  # fmt: skip
    print_table(
        console,
        f"one writer of {size(checked.small_bytes)}, and {plural(checked.large_writers, 'writer')} beside it",
        ["round", "alone", "speed beside computing", "beside the others", "factor", "share of storage links"],
        rows,
        words=0,
        most=len(rows),
    )
    console.print(
        f"\nlink: one writer reaches {percent(checked.alone_share)} of {rate(checked.link_bytes_per_s)}"
        f"\nstorage: the links carry {percent(checked.overlap_share)} of their rate while both applications write"
        f"\ninterference: the small application takes {checked.factor:.2f} times as long beside the large one",
        soft_wrap=True,
    )
    for refusal in checked.refusals:
        console.print(f"\nrefused: {refusal}", soft_wrap=True)
