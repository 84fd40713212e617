"""Rounds of writers on one storage target, and what may be concluded from them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median

from halcyon.errors import UsageError
from halcyon.models.contention import Contention, contention
from halcyon.models.measurements import MeasuredWriters
from halcyon.models.probe.placement import files_on_one_target
from halcyon.models.probe.writing import BLOCK_BYTES, takes_direct, write_together
from halcyon.quantities import percent, plural, rate, size

ROUNDS_NEEDED = 6
"""The range of so many rounds holds the median with 97 % confidence (sign test); of fewer with less than 95 %."""
CONTROL_LIMIT = 0.1
"""By which one writer may differ from one writer measured again."""
MOST_WRITERS = 256


@dataclass(frozen=True)
class Rounds:
    """Bandwidth per writer, its mean in each round."""

    writers: int
    bytes_per_s: list[float]

    @property
    def median_bytes_per_s(self) -> float:
        return median(self.bytes_per_s)


@dataclass(frozen=True)
class Probe:
    """`control`: one writer, measured once more in each round. `contention`: medians and ranges of all rounds; one
    writer's are of both. `doubts`: why nothing is concluded."""

    directory: str
    file_system: str
    target: str
    direct: bool
    """Around the cache; else synced at the end only."""
    bytes_each: int
    rounds: list[Rounds]
    control: Rounds
    contention: Contention
    doubts: list[str]


def probe(
    directory: Path,
    writers: Sequence[int],
    rounds: int,
    bytes_each: int,
    target: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Probe:
    """Measures; its files are removed in the end. UsageError: a number is out of bounds, or the file system offers no
    choice of target; HalcyonSystemError: it refused."""
    wanted = sorted({1, *writers})
    if wanted[-1] > MOST_WRITERS or len(wanted) < 2:
        raise UsageError(f"--writers {','.join(map(str, writers))}; expected numbers from 2 to {MOST_WRITERS}")
    if bytes_each < BLOCK_BYTES or bytes_each % BLOCK_BYTES:
        raise UsageError(f"--bytes {bytes_each:,}; expected a multiple of {BLOCK_BYTES >> 20} MiB")
    measured: dict[int, list[float]] = {count: [] for count in [_CONTROL, *wanted]}
    with files_on_one_target(directory, wanted[-1], target) as placement:
        direct = takes_direct(placement.files[0])
        tell(f"target {placement.target}: {size(rounds * bytes_each * (1 + sum(wanted)))} will be written in all")
        for number in range(rounds):
            for count in _order([*wanted, _CONTROL], number):
                files = placement.files[: count or 1]
                measured[count].append(mean(bytes_each / took for took in write_together(files, bytes_each, direct)))
            placement.check()
            tell(f"round {number + 1} of {rounds}: {_told(measured, wanted)}")
    control = Rounds(1, measured.pop(_CONTROL))
    found = [Rounds(count, own) for count, own in measured.items()]
    return Probe(
        str(directory), placement.file_system, placement.target, direct, bytes_each, found, control,
        contention(placement.target, [_interval(one, control) for one in found]), doubts(found[0], control),
    )  # fmt: skip


_CONTROL = 0


def _order(counts: list[int], number: int) -> list[int]:
    """Each round begins with another one, and every second goes backwards, so that a drift hits all alike."""
    start = number % len(counts)
    order = counts[start:] + counts[:start]
    return order[::-1] if number % 2 else order


def _told(measured: dict[int, list[float]], wanted: Sequence[int]) -> str:
    return ", ".join(f"{count} × {rate(measured[count][-1])}" for count in wanted)


def _interval(one: Rounds, control: Rounds) -> MeasuredWriters:
    values = one.bytes_per_s + (control.bytes_per_s if one.writers == 1 else [])
    return MeasuredWriters(one.writers, median(values), min(values), max(values))


def doubts(alone: Rounds, control: Rounds) -> list[str]:
    """Why the rounds show nothing; empty where they do."""
    found = []
    if len(alone.bytes_per_s) < ROUNDS_NEEDED:
        rounds = plural(len(alone.bytes_per_s), "round")
        found.append(f"{rounds}; only from {ROUNDS_NEEDED} on does the range hold the median with 95 % confidence")
    first, again = alone.median_bytes_per_s, control.median_bytes_per_s
    apart = abs(first - again) / max(first, again)
    if apart > CONTROL_LIMIT:
        found.append(
            f"one writer alone got {rate(first)}, and measured again {rate(again)}: {percent(apart)} apart, more than "
            f"{percent(CONTROL_LIMIT)}; the storage or this machine is not steady"
        )
    return found
