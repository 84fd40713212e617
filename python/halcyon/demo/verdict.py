"""What the demo found, in sentences: first what it proves, then under which conditions, then what speaks against it."""

from dataclasses import dataclass
from statistics import median

from halcyon.demo.calibration import STORE_OVER_COMPUTE_AT_LEAST, STORE_OVER_COMPUTE_AT_MOST
from halcyon.demo.comparison_rounds import CONTROL, DEDICATED, FILE_PER_PROCESS, SHARED, Comparison
from halcyon.demo.measurement import run_time, visible
from halcyon.demo.overload import Overload, was_reached
from halcyon.demo.table_rows import ratio_text
from halcyon.quantities import percent, plural, rate, seconds


@dataclass(frozen=True)
class Verdict:
    """`met`: the premises held in at least one round, so that the ratios say something."""

    met: bool
    sentences: list[str]
    conditions: list[str]
    cautions: list[str]


def judge(comparison: Comparison, overloaded: Overload | None, why_plain: str | None) -> Verdict:
    """`why_plain`: why the storage is not limited."""
    met = bool(comparison.counted)
    return Verdict(
        met,
        _findings(comparison) if met else [_nothing_proved(comparison)],
        _conditions(comparison, why_plain),
        _failed_rounds(comparison) + (overload_cautions(overloaded) if overloaded is not None else []),
    )


def _findings(comparison: Comparison) -> list[str]:
    found = []
    for case in (DEDICATED, SHARED):
        core = comparison.measured(case)[0].server_core
        found.append(
            f"{case.title}{f' (server: {core})' if core else ''}: output blocked the simulation "
            f"{ratio_text(comparison.ratio(case, visible))} times as long as file-per-process did; the whole run took "
            f"{ratio_text(comparison.ratio(case, run_time))} times as long."
        )
    return found


def _nothing_proved(comparison: Comparison) -> str:
    rounds = plural(len(comparison.rounds), "round")
    return f"Not met: the premises held in none of {rounds}. The numbers below are those of all, and prove nothing."


def _conditions(comparison: Comparison, why_plain: str | None) -> list[str]:
    compute_s = median(run.compute_phase_s for run in comparison.measured(FILE_PER_PROCESS))
    rounds = len(comparison.shown)
    said = []
    if comparison.limits:
        share = median(run.store_over_compute for run in comparison.measured(FILE_PER_PROCESS))
        limits = ", ".join(sorted({rate(limit) for limit in comparison.limits}))
        said.append(
            f"Storage: a device limited to {limits}. Two ranks computed {seconds(compute_s)} between "
            f"outputs; storing took {percent(share)} of that (aimed at: {percent(STORE_OVER_COMPUTE_AT_LEAST)} to "
            f"{percent(STORE_OVER_COMPUTE_AT_MOST)})."
        )
    else:
        why = f" ({why_plain})" if why_plain else ""
        said.append(f"Storage: a plain directory, not limited{why}. Output is then as fast as this disk.")
    said.append(
        f"Control: file-per-process took {ratio_text(comparison.ratio(CONTROL, visible))} times as long as itself. A "
        "difference smaller than that means nothing."
    )
    said.append(f"Medians over {plural(rounds, 'round')} of {len(comparison.rounds)}; in brackets least–most.")
    return said


def _failed_rounds(comparison: Comparison) -> list[str]:
    said = []
    for place, one in enumerate(comparison.rounds, 1):
        if failures := one.failures():
            details = "; ".join(dict.fromkeys(detail for _, detail in failures))
            said.append(f"Round {place} {'does not count' if comparison.counted else 'proves nothing'}: {details}.")
    return said


def overload_cautions(measured: Overload) -> list[str]:
    """Where the second table does not show what it is there for."""
    idle = [t for t, run in measured.measured.items() if t != FILE_PER_PROCESS.title and not was_reached(run)]
    if not idle:
        return []
    why = "the storage kept up, so the buffer was never full, and these rows say nothing of their policy"
    return [f"Overload was not reached with {', '.join(idle)}: {why}; run the demo again on a quieter machine."]
