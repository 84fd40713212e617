"""Where log-structured files win and lose against a shared file, and at which load (Wright 2014, table G.9)."""

from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.models.measurements import MeasuredLogs
from halcyon.models.stripes import GOOD_LOAD, STRIPES_OF_A_LOG, Load, load_table, logs


@dataclass(frozen=True)
class Duel:
    """Bandwidths of both, and the load that the logs are expected to cause."""

    measured: MeasuredLogs
    expected: Load

    @property
    def logs_over_shared(self) -> float:
        return self.measured.logs_bytes_per_s / self.measured.shared_bytes_per_s

    @property
    def logs_win(self) -> bool:
        return self.logs_over_shared >= 1


@dataclass(frozen=True)
class LogsCompared:
    """A row per number of ranks, and the ranks, in whole nodes, whose logs reach `limit`."""

    total: int
    stripes: int
    rows: list[Duel]
    limit: float
    ranks_at_limit: int
    ranks_per_node: int

    @property
    def last_win(self) -> Duel | None:
        """Of the most ranks before the first loss; None: the logs lose at once."""
        won = [row for row in self.rows if self.first_loss is None or row.expected.jobs < self.first_loss.expected.jobs]
        return won[-1] if won else None

    @property
    def first_loss(self) -> Duel | None:
        return next((row for row in self.rows if not row.logs_win), None)

    @property
    def limit_lies_between(self) -> bool:
        """Between the last win and the first loss."""
        won, lost = self.last_win, self.first_loss
        return won is not None and lost is not None and won.expected.jobs < self.ranks_at_limit < lost.expected.jobs


def compare_logs(
    total: int,
    measured: Sequence[MeasuredLogs],
    *,
    stripes: int = STRIPES_OF_A_LOG,
    limit: float = GOOD_LOAD,
    per_node: int = 1,
) -> LogsCompared:
    """`measured`: by ranks."""
    rows = [Duel(one, load_table(total, stripes, [one.ranks])[0]) for one in measured]
    return LogsCompared(
        total, stripes, rows, limit, logs(total, [], stripes=stripes, limit=limit, per_node=per_node).ranks_at_limit,
        per_node,
    )  # fmt: skip
