"""Storage that cannot keep up: what each policy does when the shared memory is full."""

import shutil
from dataclasses import dataclass, replace
from pathlib import Path

from halcyon.demo.build_tree import BuildTree
from halcyon.demo.calibration import Pace, Step
from halcyon.demo.comparison_rounds import FILE_PER_PROCESS, SHARED, keep
from halcyon.demo.measurement import Measurement, measure
from halcyon.demo.model_run import run_case
from halcyon.testbed.limited_storage import Storage

POLICIES = ("block", "spill", "skip", "inline")
STORE_OVER_COMPUTE = 2.0  # aimed at
PHASES = 8


@dataclass(frozen=True)
class Overload:
    """Each policy's run, and file-per-process on the same storage."""

    limit: float
    measured: dict[str, Measurement]
    runs: dict[str, Path]


def was_reached(run: Measurement) -> bool:
    """Whether the buffer was ever full, so that its policy had something to do."""
    return run.blocked_s > 0 or any(run.counts[name] > 0 for name in _SIGNS)


_SIGNS = ("spilled_blocks", "skipped_blocks", "inlined_blocks", "early_parts")


def overload(tree: BuildTree, storage: Storage, pace: Pace, kept: Path, spill: Path, step: Step) -> Overload:
    """Runs the storm with output twice as often, into storage slower than the computation. Spills go to `spill`."""
    storm = pace.storm
    hurried = replace(storm, phases=PHASES, steps_per_phase=max(1, storm.steps_per_phase // 2))
    limit = storm.bytes_per_phase / (STORE_OVER_COMPUTE * pace.compute_phase_s / 2)
    storage.limit(limit)
    spill.mkdir()
    # Room for two phases and a half: the third one finds none.
    room = f"{storm.bytes_per_phase * 5 // 2 // 1024} KiB"
    measured: dict[str, Measurement] = {}
    runs: dict[str, Path] = {}
    cases = [replace(FILE_PER_PROCESS, name="overload-file-per-process", title="file-per-process")]
    for policy in POLICIES:
        buffer = {"size": room, "when-full": policy, "spill-directory": str(spill.resolve())}
        cases.append(replace(SHARED, name=f"overload-{policy}", title=policy, buffer=buffer))
    for case in cases:
        step(f"overload: {case.title}")
        directory = run_case(tree, storage, hurried, case, case.name)
        measured[case.title] = measure(directory)
        runs[case.title] = keep(directory, kept / case.name)
        shutil.rmtree(directory.parent)
    shutil.rmtree(spill)
    return Overload(limit, measured, runs)
