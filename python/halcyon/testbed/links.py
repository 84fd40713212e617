"""Bytes that crossed the links of a test bed, counted at the bridge."""

import time
from dataclasses import dataclass
from pathlib import Path

from halcyon.testbed.bed import Bed


@dataclass(frozen=True)
class Counted:
    """Bytes on the wire since the bed was raised, by host: sent to it, and sent by it."""

    time_s: float
    to_host: dict[str, int]
    from_host: dict[str, int]


def count(bed: Bed) -> Counted:
    """Now."""
    text = Path(f"/proc/{bed.holder}/net/dev").read_text()
    rows = dict(line.split(":", 1) for line in text.splitlines() if ":" in line)
    fields = {host.name: rows[f"{host.bridge_end:>6}"].split() for host in bed.plan.hosts}
    return Counted(
        time.monotonic(),
        {host: int(words[8]) for host, words in fields.items()},
        {host: int(words[0]) for host, words in fields.items()},
    )


def shares_of_storage_links(bed: Bed, begin: Counted, end: Counted) -> dict[str, float]:
    """How much of the rate of each storage host's link was used towards it; empty where links have no limit."""
    rate = bed.plan.storage_link_bits_per_s / 8
    seconds = end.time_s - begin.time_s
    if not rate or seconds <= 0:
        return {}
    return {
        host.name: (end.to_host[host.name] - begin.to_host[host.name]) / (rate * seconds)
        for host in bed.plan.storage_hosts
    }
