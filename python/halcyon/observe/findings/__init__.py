"""What is wrong with a run's I/O, with evidence, what it costs, and what to change. One module per kind of finding."""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings import (
    collective_buffering,
    collective_setup,
    collective_waiting,
    counted,
    data_sieving,
    frequent_sync,
    metadata_storm,
    misalignment,
    mpiio_overhead,
    one_rank_moves_all,
    random_access,
    read_modify_write,
    redundant_reads,
    slow_rank,
    slow_server,
    small_transfers,
    synchronous_writes,
)
from halcyon.observe.findings.finding import Evidence, Finding, Severity, Span

__all__ = ["Evidence", "Finding", "Severity", "Span", "findings"]

_KINDS = (
    data_sieving,
    collective_buffering,
    collective_waiting,
    collective_setup,
    mpiio_overhead,
    small_transfers,
    random_access,
    misalignment,
    metadata_storm,
    slow_rank,
    slow_server,
    frequent_sync,
    synchronous_writes,
    one_rank_moves_all,
    redundant_reads,
    read_modify_write,
    counted,
)
_OF_COUNTERS = (mpiio_overhead, counted)
"""Those that a source without calls can show; each of the others would look through an empty table."""
_ORDER = [Severity.HIGH, Severity.MEDIUM, Severity.LOW]


def findings(answers: Answers) -> list[Finding]:
    """All findings, the most severe first; none for a healthy run."""
    kinds = _KINDS if answers.survey.calls else _OF_COUNTERS
    found = [finding for kind in kinds for finding in kind.find(answers)]
    return sorted(found, key=lambda one: (_ORDER.index(Severity(one.severity)), -(one.seconds_lost or 0.0), one.key))
