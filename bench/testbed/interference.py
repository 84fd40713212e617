#!/usr/bin/env python3
"""What applications do to each other on a test bed: 4 compute hosts, 2 storage hosts behind 400 Mbit/s, 16 mounts.

In each round: four writers (two per server), a small application alone and beside computing, beside a large one on 15
mounts, and beside the same 15 writers on one mount. The naive way to make a large application is that last one: it has
many writers, and the weight of one client.
"""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean, median, stdev

from rounds import Rounds, count, unmet

from halcyon.testbed.applications import Application, run_together
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.check import LEAST_BESIDE_COMPUTING, LEAST_LINK_SHARE, measure_round, two_applications
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=4, storage=2, mounts=16)
ROUNDS = 10
FOUR_BYTES = 64 << 20
"""Of each of four writers: 2.8 s."""
STUDENT_T = {7: 2.447, 8: 2.365, 9: 2.306, 10: 2.262}
"""Two-sided, 95 %, by the number of values."""


def main() -> None:
    if reason := unavailable(PLAN):
        for name in ("link_share", "interference_factor", "interference_factor_one_mount", "repeatability"):
            unmet("testbed", name, reason)
        return
    with raised(PLAN) as bed:
        measure(bed)


def measure(bed: Bed) -> None:
    large, small = two_applications(bed)
    four = Application("four", bed.mounts()[:4], FOUR_BYTES)
    on_one_mount = replace(large, name="one-mount", at=[large.at[0]] * len(large.at))
    links_bytes_per_s = PLAN.storage * PLAN.storage_link_bits_per_s / 8
    times, factors = [], []
    for one in Rounds("testbed", ROUNDS):
        [alone], [again] = (run_together(bed, [(four, 0.0)]) for _ in range(2))
        one.control("four_writers_control", again.seconds / alone.seconds, 1.05)
        one.value("link_share", 4 * FOUR_BYTES / alone.seconds / links_bytes_per_s, "share")
        measured = measure_round(bed, large, small)
        naive = measure_round(bed, on_one_mount, small)
        one.require(
            "the links are the limit", measured.overlap_share >= LEAST_LINK_SHARE, f"{measured.overlap_share:.3f}"
        )
        one.require(
            "computing leaves writers what they need",
            measured.beside_computing >= LEAST_BESIDE_COMPUTING,
            f"{measured.beside_computing:.3f} of the speed alone",
        )
        one.require("the large application outlasts the small one", measured.covered, f"{measured.large_s:.2f} s")
        one.value("interference_factor", measured.factor, "ratio")
        one.value("interference_factor_one_mount", naive.factor, "ratio")
        one.value("overlap_share", measured.overlap_share, "share")
        one.value("beside_computing", measured.beside_computing, "ratio")
        times.append(alone.seconds)
        factors.append(measured.factor)
    count("testbed", "repeatability", spread(times), "ratio")
    count("testbed", "interference_factor_half_width", half_width(factors), "ratio")


def spread(values: Sequence[float]) -> float:
    """Of all rounds, whether they count or not: from the least to the largest, over the median."""
    return (max(values) - min(values)) / median(values)


def half_width(values: Sequence[float]) -> float:
    """Of the 95 % confidence interval of the mean, over the mean."""
    return STUDENT_T.get(len(values), 1.96) * stdev(values) / len(values) ** 0.5 / mean(values)


if __name__ == "__main__":
    main()
