"""Two programs on a test bed, neither of which knows of the other: each alone, then both at once."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from halcyon.errors import UsageError
from halcyon.testbed.bed import Bed
from halcyon.testbed.check import LEAST_LINK_SHARE
from halcyon.testbed.links import shares_of_storage_links
from halcyon.testbed.metered import Program, Run, run_metered

CONTROL_WITHIN = 1.1
"""By this factor B alone may differ from itself."""


@dataclass(frozen=True)
class Round:
    """Runs of A and B. `control`: B alone once more, over B alone. `link_shares`: by storage host, of its link's rate,
    while both moved data; empty where links have no limit, or the two did not meet."""

    a_alone: Run
    b_alone: Run
    a: Run
    b: Run
    control: float
    link_shares: dict[str, float]

    @property
    def a_factor(self) -> float:
        return self.a.moving_s / self.a_alone.moving_s

    @property
    def b_factor(self) -> float:
        return self.b.moving_s / self.b_alone.moving_s


@dataclass(frozen=True)
class Compared:
    """Two programs alone and together."""

    a: Program
    b: Program
    rounds: list[Round]
    link_bytes_per_s: float
    """Of each storage link; 0: they have no limit."""
    storage_links: int

    @property
    def a_factor(self) -> float:
        return median(one.a_factor for one in self.rounds)

    @property
    def b_factor(self) -> float:
        return median(one.b_factor for one in self.rounds)

    @property
    def typical(self) -> Round:
        """The round with the median factor of B; of two, the lower."""
        return sorted(self.rounds, key=lambda one: one.b_factor)[(len(self.rounds) - 1) // 2]

    @property
    def link_share(self) -> float | None:
        """Of the storage link used most while both moved data: its median. None: not known in any round."""
        shares = [max(one.link_shares.values()) for one in self.rounds if one.link_shares]
        return median(shares) if shares else None

    @property
    def refusals(self) -> list[str]:
        """Why the times say nothing about interference at the storage; empty: nothing speaks against it."""
        control = median(one.control for one in self.rounds)
        said = []
        if self.link_share is None:
            said.append("A and B never moved data at the same time, or the storage links have no limit")
        elif self.link_share < LEAST_LINK_SHARE:
            said.append(
                f"no storage link carried more than {self.link_share:.3f} of its rate while both moved data, below "
                f"{LEAST_LINK_SHARE:g}: the links are not the limit; choose a lower --storage-link, or more mounts"
            )
        if not 1 / CONTROL_WITHIN <= control <= CONTROL_WITHIN:
            said.append(f"B alone differs from itself by a factor of {control:.2f}: the machine is not steady")
        return said


def compare(bed: Bed, a: Program, b: Program, rounds: int, on_round: Callable[[Round], None] | None = None) -> Compared:
    """Runs A alone, B alone, both, and B alone again, `rounds` times. UsageError: no round, or the two share a host, so
    that nobody could tell whose bytes are whose, or somebody else measures on the bed; HalcyonSystemError: a command
    failed, or moved no data, or a daemon of the bed has ended."""
    if rounds < 1:
        raise UsageError(f"rounds: {rounds}; expected 1 or more")
    if shared := set(a.hosts) & set(b.hosts):
        raise UsageError(f"A and B share {', '.join(sorted(shared))}: bytes are counted by host; give each its own")
    told = []
    with bed.measuring():
        for _ in range(rounds):
            told.append(_measure(bed, a, b))
            if on_round is not None:
                on_round(told[-1])
    return Compared(a, b, told, bed.plan.storage_link_bits_per_s / 8, bed.plan.storage)


def _measure(bed: Bed, a: Program, b: Program) -> Round:
    a_alone = run_metered(bed, [a]).runs[0]
    b_alone = run_metered(bed, [b]).runs[0]
    both = run_metered(bed, [a, b])
    again = run_metered(bed, [b]).runs[0]
    begin_s = max(run.moving_from_s for run in both.runs)
    end_s = min(run.moving_until_s for run in both.runs)
    shares = shares_of_storage_links(bed, both.look_at(begin_s), both.look_at(end_s)) if begin_s < end_s else {}
    return Round(a_alone, b_alone, both.runs[0], both.runs[1], again.moving_s / b_alone.moving_s, shares)
