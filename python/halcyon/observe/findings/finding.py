"""What a finding is: something wrong, how it is known, what it costs, and what to change."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum

from halcyon.observe.analysis.answers import Answers


class Severity(StrEnum):
    """By the shares of the I/O time and of the run that it costs (settings.grave_share, grave_run_share)."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True)
class Evidence:
    """One measured figure, ready to be read."""

    what: str
    value: str


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong.

    `seconds_lost` is an estimate, in sum over processes; `estimate` says how it was made.
    """

    key: str
    title: str
    severity: str
    explanation: str
    change: str
    seconds_lost: float | None
    estimate: str
    calls: int | None
    bytes: int | None
    evidence: list[Evidence] = field(default_factory=list)
    files: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


def severity(answers: Answers, seconds_lost: float | None) -> str | None:
    """None: it is not worth a line. Costs that cannot be estimated are of low severity."""
    if seconds_lost is None:
        return Severity.LOW
    settings = answers.settings
    of_io = seconds_lost / answers.io_s if answers.io_s else 0.0
    of_run = seconds_lost / (answers.survey.end_ns / 1e9 * max(len(answers.ranks), 1))
    if seconds_lost < settings.worth_seconds or of_io < settings.worth_share or of_run < settings.worth_run_share:
        return None
    grade = min(of_io / settings.grave_share, of_run / settings.grave_run_share)
    if grade >= 1:
        return Severity.HIGH
    return Severity.MEDIUM if grade >= 1 / 4 else Severity.LOW


def found(
    answers: Answers, *, key: str, seconds_lost: float | None, ranks: Iterable[int] = (), **values: object
) -> list[Finding]:
    """One finding, or none when it is not worth a line. `ranks` below 0 (processes beside MPI's) are left out."""
    grade = severity(answers, seconds_lost)
    if grade is None:
        return []
    own = sorted(rank for rank in ranks if rank >= 0)
    return [Finding(key=key, severity=grade, seconds_lost=seconds_lost, ranks=own, **values)]  # type: ignore[arg-type]
