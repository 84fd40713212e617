"""The three ways of output, run in turns: what differs between them is not what changed on the machine meanwhile."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from halcyon.demo.build_tree import BuildTree
from halcyon.demo.measurement import Measurement, measure
from halcyon.demo.model_run import Case, Storm, run_case
from halcyon.demo.storage import UNLIMITED, Storage
from halcyon.run_files import read_object

FILE_PER_PROCESS = Case("file-per-process", "file-per-process", "file-per-process", 2)
COLLECTIVE = Case("collective", "collective", "collective", 2)
DEDICATED = Case("halcyon-1", "Halcyon, 1 rank", "halcyon", 1)
SHARED = Case("halcyon-2", "Halcyon, 2 ranks", "halcyon", 2)
CONTROL = replace(FILE_PER_PROCESS, name="control", title="file-per-process again")
CASES = (FILE_PER_PROCESS, DEDICATED, COLLECTIVE, SHARED, CONTROL)

STORE_OVER_COMPUTE = 0.5  # aimed at with the plain bytes of a phase; files and syncs take some more
STORE_OVER_COMPUTE_AT_MOST = 0.8

Step = Callable[[str], object]


@dataclass(frozen=True)
class Comparison:
    """The rounds, by name of the case; directories of the last round's runs."""

    compute_phase_s: float
    limit: float | None
    rounds: dict[str, list[Measurement]]
    runs: dict[str, Path]


def calibrate(tree: BuildTree, storage: Storage, storm: Storm) -> float:
    """Seconds that two ranks compute between two outputs, on this machine and as busy as it is."""
    storage.limit(UNLIMITED)
    case = replace(FILE_PER_PROCESS, name="calibration", title="calibration", output="none")
    directory = run_case(tree, storage, replace(storm, phases=2), case, "calibration")
    told = read_object(directory / "app.json")
    return float(told["compute_s"]) / 2


def compare(
    tree: BuildTree, storage: Storage, storm: Storm, compute_phase_s: float, rounds: int, kept: Path, step: Step
) -> Comparison:
    """Runs all cases `rounds` times, every second time in reverse; `step` is told what runs next.

    The runs of the last round are kept below `kept`; of the others only their numbers.
    """
    limit = storm.bytes_per_phase / (STORE_OVER_COMPUTE * compute_phase_s)
    storage.limit(limit)
    measured: dict[str, list[Measurement]] = {case.name: [] for case in CASES}
    runs: dict[str, Path] = {}
    for number in range(rounds):
        for case in CASES if number % 2 == 0 else reversed(CASES):
            step(f"round {number + 1} of {rounds}: {case.title}")
            directory = run_case(tree, storage, storm, case, case.name)
            measured[case.name].append(measure(directory))
            if number == rounds - 1:
                runs[case.name] = keep(directory, kept / case.name, with_data=case is not CONTROL)
            shutil.rmtree(directory.parent)
    return Comparison(compute_phase_s, limit if storage.group else None, measured, runs)


def keep(directory: Path, place: Path, with_data: bool = False) -> Path:
    """Copies a run off the limited device; only its records, or with its data."""
    shutil.copytree(directory, place, ignore=None if with_data else shutil.ignore_patterns("*.h5", "*.xmf"))
    return place
