#!/usr/bin/env python3
"""Token buckets of the storage links in the part of the storage's cache (Dorier 2014, figure 6.3): a phase that finds
the bucket full against the same phase right behind another application's."""

import time

from rounds import Rounds, unmet

from halcyon.testbed.applications import Application, run_together
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PHASE_BYTES = 32 << 20
PLAN = Plan(compute=2, storage=1, mounts=2, burst_bytes=3 * PHASE_BYTES // 2)
LINK_BYTES_PER_S = PLAN.storage_link_bits_per_s / 8
FULL_S = 1.2 * PLAN.burst_bytes / LINK_BYTES_PER_S
"""In which a bucket fills, and a little more."""


def main() -> None:
    if reason := unavailable(PLAN):
        for name in ("cached_over_link", "cache_lost_factor"):
            unmet("testbed", name, reason)
        return
    with raised(PLAN) as bed:
        measure(bed)


def measure(bed: Bed) -> None:
    first, second = bed.mounts()
    other = Application("other", [first], 2 * PHASE_BYTES)
    own = Application("own", [second], PHASE_BYTES)
    for one in Rounds("testbed"):
        cached, again = (after_a_pause(bed, own) for _ in range(2))
        one.control("cached_control", again / cached, 1.1)
        time.sleep(FULL_S)
        run_together(bed, [(other, 0.0)])
        [behind] = run_together(bed, [(own, 0.0)])
        over_link = PHASE_BYTES / cached / LINK_BYTES_PER_S
        one.require("a full bucket lets a phase pass", over_link > 1.5, f"{over_link:.2f} times the link's rate")
        one.value("cached_over_link", over_link, "ratio")
        one.value("cache_lost_factor", behind.seconds / cached, "ratio")


def after_a_pause(bed: Bed, application: Application) -> float:
    time.sleep(FULL_S)
    return run_together(bed, [(application, 0.0)])[0].seconds


if __name__ == "__main__":
    main()
