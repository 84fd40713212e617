"""A periodic writer that loses the storage's cache to another one: what the runs of delta-cache.py say of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from writers import MIB

from halcyon.delta.measuring import ALONE, of_key
from halcyon.delta.runs import Key, Run, Told
from halcyon.errors import UsageError
from halcyon.testbed.plan import Plan

QUESTION = "two periodic writers that fall into step and lose the storage's cache"
PHASE_BYTES = 32 * MIB
PLAN = Plan(compute=2, storage=1, mounts=2, burst_bytes=9 * PHASE_BYTES // 8)
LINK_BYTES_PER_S = PLAN.storage_link_bits_per_s / 8
RUNS = 7
"""Of each kind."""
LEAST_CACHED = 1.5
"""Rate of a phase that finds the bucket full, over the link's: below, the bucket is no cache."""
LOST = 0.75
"""Of the median rate alone: a phase below has lost the cache."""


@dataclass(frozen=True)
class CacheLost:
    """`alone_over_link`: median rate of A's phases alone, over the link's. `lost_alone`, `lost`: shares of its phases
    that have lost the cache, alone and beside B. `lost_over_alone`: their median rate beside B, over that alone; None
    if there are none."""

    alone_over_link: float
    lost_alone: float
    lost: float
    lost_over_alone: float | None


def cache_lost(runs: Sequence[Run]) -> CacheLost:
    """UsageError: the runs do not tell."""
    if (counted := runs_of_all(runs)) < RUNS:
        raise UsageError(f"{counted} of {RUNS} runs count; the same command goes on")
    alone = [rate for told in of_a(ALONE[0], runs) for rate in rates(told)]
    beside = [rate for told in of_a(Key(), runs) for rate in rates(told)]
    if not alone or not beside:
        raise UsageError(f"no phase of A has {PHASE_BYTES} bytes")
    usual = median(alone)
    over_link = usual / LINK_BYTES_PER_S
    if over_link < LEAST_CACHED:
        raise UsageError(
            "the bucket is no cache: a phase alone passes at "
            f"{over_link:.2f} times the link's rate, not {LEAST_CACHED:g}"
        )
    lost = [rate for rate in beside if rate < LOST * usual]
    return CacheLost(
        over_link, sum(rate < LOST * usual for rate in alone) / len(alone), len(lost) / len(beside),
        median(lost) / usual if lost else None,
    )  # fmt: skip


def runs_of_all(runs: Sequence[Run]) -> int:
    """That count, of the kind that has the fewest."""
    return min(len(of_key(key, runs)) for key in (*ALONE, Key()))


def rates(told: Told) -> list[float]:
    """Bytes/s of each phase that has the bytes of one; two that run into one another are one of more."""
    return [phase.bytes / phase.seconds for phase in told.phases if phase.bytes >= PHASE_BYTES]


def of_a(key: Key, runs: Sequence[Run]) -> list[Told]:
    return [run.a for run in of_key(key, runs) if run.a is not None]
