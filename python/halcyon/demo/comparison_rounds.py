"""The ways of output, run in turns: what differs between them is not what changed on the machine meanwhile."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from halcyon.demo.build_tree import BuildTree
from halcyon.demo.calibration import Pace, Step, bites, cause
from halcyon.demo.measurement import Figure, Measurement, Ratio, measure, ratio, visible
from halcyon.demo.model_run import Case, run_case
from halcyon.offload.data_files import FORMATS
from halcyon.quantities import number
from halcyon.testbed.limited_storage import Storage

FILE_PER_PROCESS = Case("file-per-process", "file-per-process", "file-per-process", 2)
COLLECTIVE = Case("collective", "collective", "collective", 2)
DEDICATED = Case("halcyon-1", "Halcyon, 1 rank", "halcyon", 1)
SHARED = Case("halcyon-2", "Halcyon, 2 ranks", "halcyon", 2)
CONTROL = replace(FILE_PER_PROCESS, name="control", title="file-per-process again")
CASES = (FILE_PER_PROCESS, DEDICATED, COLLECTIVE, SHARED, CONTROL)

CONTROL_WITHIN = 1.5
"""By this factor the time of file-per-process may differ from itself in one round."""
LIMIT_BITES = "the limit bites"
SPARE_ROUNDS = 2
"""Made in place of such as do not count, at most."""


@dataclass(frozen=True)
class Round:
    """Each way once. `pace`: the storage it ran on; None where that is not limited."""

    measured: dict[str, Measurement]
    pace: Pace | None

    def failures(self) -> list[tuple[str, str]]:
        """Premises that do not hold, each with how."""
        found = []
        # By the reference alone: how the other ways use the storage is what the round is to find out.
        for case in (FILE_PER_PROCESS, CONTROL):
            run = self.measured[case.name]
            if self.pace is not None and not bites(run.store_over_compute * 2 / case.ranks):
                found.append((LIMIT_BITES, f"{case.title}: {cause(self.pace, run, case.ranks)}"))
        control = visible(self.measured[CONTROL.name]) / visible(self.measured[FILE_PER_PROCESS.name])
        if not 1 / CONTROL_WITHIN <= control <= CONTROL_WITHIN:
            detail = f"file-per-process over itself {number(control)}: something else used this machine"
            found.append(("the control is near 1", detail))
        return found


@dataclass(frozen=True)
class Comparison:
    """All rounds that were made; directories of the runs of the last one that counts, or of the last one."""

    rounds: list[Round]
    runs: dict[str, Path]

    @property
    def counted(self) -> list[Round]:
        return [one for one in self.rounds if not one.failures()]

    @property
    def shown(self) -> list[Round]:
        """Those that count; all, where none does: their numbers prove nothing, and are not hidden."""
        return self.counted or self.rounds

    def measured(self, case: Case) -> list[Measurement]:
        return [one.measured[case.name] for one in self.shown]

    def ratio(self, case: Case, figure: Figure) -> Ratio:
        return ratio(self.measured(case), self.measured(FILE_PER_PROCESS), figure)

    @property
    def limits(self) -> list[float]:
        """Bytes per second; none where the storage is not limited."""
        return [one.pace.limit for one in self.shown if one.pace is not None]


def run_round(
    tree: BuildTree, storage: Storage, pace: Pace, cases: Sequence[Case], step: Step, kept: Path | None = None
) -> Round:
    """Runs all cases in this order; `step` is told which is next. Runs are kept below `kept`, or only their numbers."""
    storage.limit(pace.limit)
    measured: dict[str, Measurement] = {}
    for case in cases:
        step(case.title)
        directory = run_case(tree, storage, pace.storm, case, case.name)
        measured[case.name] = measure(directory)
        if kept is not None:
            keep(directory, kept / case.name, with_data=case is not CONTROL)
        shutil.rmtree(directory.parent)
    return Round(measured, pace if storage.group is not None else None)


def compare(
    tree: BuildTree, storage: Storage, pace: Pace, rounds: int, kept: Path, step: Step
) -> tuple[Comparison, Pace]:
    """Runs all cases until `rounds` rounds count, every second time in reverse; the storage's limit is adjusted after a
    round in which it did not do its part. Returns the last pace, too."""
    made: list[Round] = []
    counted = 0
    newest = kept.with_name("newest")
    while counted < rounds and len(made) < rounds + SPARE_ROUNDS:
        title = f"round {len(made) + 1} of {max(rounds, len(made) + 1)}"
        order = CASES if len(made) % 2 == 0 else CASES[::-1]
        one = run_round(tree, storage, pace, order, partial(_tell, step, title), newest)
        made.append(one)
        if not one.failures() or not counted:
            shutil.rmtree(kept, ignore_errors=True)
            newest.rename(kept)
        else:
            shutil.rmtree(newest)
        counted += not one.failures()
        pace = adjusted(pace, one)
    return Comparison(made, {case.name: kept / case.name for case in CASES}), pace


def _tell(step: Step, title: str, what: str) -> None:
    step(f"{title}: {what}")


def adjusted(pace: Pace, after: Round) -> Pace:
    """For the next round: another limit where this one did not do its part."""
    failed = [premise for premise, _ in after.failures()]
    return pace.adjusted(after.measured[FILE_PER_PROCESS.name]) if LIMIT_BITES in failed else pace


def keep(directory: Path, place: Path, with_data: bool = False) -> Path:
    """Copies a run off the limited device; only its records, or with its data."""
    data = {f"*{ending}" for known in FORMATS for ending in (known.ending, *known.view_endings)}
    shutil.copytree(directory, place, ignore=None if with_data else shutil.ignore_patterns(*sorted(data)))
    return place
