"""What a finding is: something wrong, how it is known, what it costs, and what to change."""

from dataclasses import dataclass, field
from enum import StrEnum

from halcyon.observe.analysis.answers import Answers


class Severity(StrEnum):
    """By the share of the I/O time that it costs (settings.grave_share)."""

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
    share = seconds_lost / answers.io_s if answers.io_s else 0.0
    if seconds_lost < settings.worth_seconds or share < settings.worth_share:
        return None
    if share >= settings.grave_share:
        return Severity.HIGH
    return Severity.MEDIUM if share >= settings.grave_share / 4 else Severity.LOW


def found(answers: Answers, *, key: str, seconds_lost: float | None, **values: object) -> list[Finding]:
    """One finding, or none when it is not worth a line."""
    grade = severity(answers, seconds_lost)
    if grade is None:
        return []
    return [Finding(key=key, severity=grade, seconds_lost=seconds_lost, **values)]  # type: ignore[arg-type]
