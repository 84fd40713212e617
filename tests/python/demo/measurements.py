"""Runs of the demo that were never made, to judge."""

from dataclasses import replace

from halcyon.demo.calibration import Pace
from halcyon.demo.comparison_rounds import CASES, Round
from halcyon.demo.measurement import Measurement
from halcyon.demo.model_run import Storm
from halcyon.offload.departures import COUNTED
from halcyon.offload.run_statistics import Spread

CALM = Measurement(
    visible_s=Spread(0.001, 0.001, 0.001, 0.001), visible_total_s=0.008, spread_s=0.001, run_s=4.0, compute_s=3.0,
    compute_phase_s=0.4, store_s=0.2, start_stop_s=0.1, server_busy=0.5, blocked_s=0.0, bytes=1000,
    counts=dict.fromkeys([*COUNTED, "skipped_bytes", "spilled_bytes", "inlined_bytes"], 0), iterations=8,
    server_core="own core",
)  # fmt: skip
PACE = Pace.of(Storm(), CALM.compute_phase_s)


def counted(name: str) -> Measurement:
    return replace(CALM, counts=CALM.counts | {name: 5})


def round_of(pace: Pace | None = PACE, **other: Measurement) -> Round:
    """One in which all premises hold, but for the runs that are named (with underscores)."""
    runs = {}
    for case in CASES:
        # One rank alone computes twice as long.
        own = replace(CALM, compute_phase_s=CALM.compute_phase_s * 2 / case.ranks)
        runs[case.name] = other.get(case.name.replace("-", "_"), own)
    return Round(runs, pace)
