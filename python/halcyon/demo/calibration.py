"""How fast this machine computes, and the speed of the storage that follows: storing shall take half the computing."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import median

from halcyon.demo.build_tree import BuildTree
from halcyon.demo.measurement import Measurement
from halcyon.demo.model_run import Case, Storm, run_case
from halcyon.offload.run_files import read_object
from halcyon.quantities import number, seconds
from halcyon.testbed.limited_storage import IMAGE_BYTES, UNLIMITED, Storage

STORE_OVER_COMPUTE = 0.5  # aimed at with the plain bytes of a phase; files and syncs take some more
STORE_OVER_COMPUTE_AT_LEAST = 0.3
STORE_OVER_COMPUTE_AT_MOST = 0.8
TAKES = 3
SHORTEST_PHASE_S = 0.8
"""Of computing. The kernel lets the first 100 ms of a burst pass whatever its limit, so that a phase has to store for
several times as long."""
MOST_PHASE_BYTES = IMAGE_BYTES // 40
"""So that the phases of a run fit into the image, with room to spare."""
_STEEPEST = 4.0  # the factor by which one round may change the limit

Step = Callable[[str], object]


@dataclass(frozen=True)
class Pace:
    """`storm`: as large as phases have to be on this machine. `compute_phase_s`: what two ranks take between two
    outputs. `limit`: bytes per second."""

    storm: Storm
    compute_phase_s: float
    limit: float

    @classmethod
    def of(cls, storm: Storm, compute_phase_s: float) -> "Pace":
        return cls(storm, compute_phase_s, storm.bytes_per_phase / (STORE_OVER_COMPUTE * compute_phase_s))

    @property
    def store_s(self) -> float:
        """What a phase takes by the limit alone."""
        return self.storm.bytes_per_phase / self.limit

    def adjusted(self, reference: Measurement) -> "Pace":
        """After a round that was not as it should be: the limit by what the reference needed under this one."""
        factor = reference.store_over_compute / STORE_OVER_COMPUTE
        within = min(max(factor, 1 / _STEEPEST), _STEEPEST)
        return replace(self, compute_phase_s=reference.compute_phase_s, limit=self.limit * within)


def calibrate(tree: BuildTree, storage: Storage, storm: Storm, step: Step) -> Pace:
    """The median of several takes, of the storm as large as phases must be."""
    storage.limit(UNLIMITED)

    def take(of: Storm, number: int) -> float:
        step(f"calibration, {number} of {TAKES}")
        case = Case("calibration", "calibration", "none", 2)
        told = read_object(run_case(tree, storage, replace(of, phases=2), case, case.name) / "app.json")
        return float(told["compute_s"]) / 2

    first = take(storm, 1)
    fitting = grown(storm, first)
    known = [first] if fitting == storm else []
    return Pace.of(fitting, median([*known, *(take(fitting, n + 1) for n in range(len(known), TAKES))]))


def grown(storm: Storm, compute_phase_s: float) -> Storm:
    """The same storm in a wider domain, where this machine computes a phase too quickly."""
    most = MOST_PHASE_BYTES / storm.bytes_per_phase
    factor = min(SHORTEST_PHASE_S / compute_phase_s, most)
    if factor <= 1:
        return storm
    nx, ny, nz = storm.cells
    wider = math.sqrt(factor)
    # Two ranks halve the domain.
    return replace(storm, cells=(2 * math.ceil(nx * wider / 2), 2 * math.ceil(ny * wider / 2), nz))


def bites(share: float) -> bool:
    """Whether storage is as slow, for the computing beside it, as it is meant to be."""
    return STORE_OVER_COMPUTE_AT_LEAST <= share <= STORE_OVER_COMPUTE_AT_MOST


def cause(pace: Pace, run: Measurement, ranks: int = 2) -> str:
    """Why a run's share of storing is none that `bites`: what differs most from calibration and limit."""
    compute_s = run.compute_phase_s * ranks / 2  # of as many ranks as were calibrated
    share = f"store/compute {number(run.store_s / compute_s)}"
    now = f"computing a phase took {seconds(pace.compute_phase_s)} at calibration and {seconds(compute_s)} in the round"
    storing = f"storing a phase took {seconds(run.store_s)}, by the limit alone {seconds(pace.store_s)}"
    slower_compute, slower_store = compute_s / pace.compute_phase_s, run.store_s / pace.store_s
    if run.store_s / compute_s > STORE_OVER_COMPUTE_AT_MOST:
        if slower_compute * slower_store < 1:
            return f"{share}: the machine was busier at calibration than in the round: {now}"
        return f"{share}: the storage was slower than its limit: {storing}"
    if slower_compute * slower_store > 1:
        return f"{share}: the machine was busier in the round than at calibration: {now}"
    return f"{share}: the limit does not bite: {storing}"
