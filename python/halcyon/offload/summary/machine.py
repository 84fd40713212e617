"""The summary for machines: JSON, SI units in the names, null for what a run does not tell."""

import json
from dataclasses import asdict
from typing import Any

from halcyon.offload.comparison import Comparison, Entry, scalings_of
from halcyon.offload.departures import keeps_counts, messages_of


def as_json(comparison: Comparison) -> str:
    """One object: what differs, and per run its manifest, departures, numbers and phases."""
    scalings = scalings_of(comparison)
    scalability = None
    if scalings is not None:
        scalability = {
            "reference": scalings.reference.name,
            "reference_is_without_output": scalings.reference_is_without_output,
            "per_iteration": scalings.per_iteration,
            "factors": {run.entry.name: run.factor for run in scalings.runs},
        }
    document = {
        "format": 1,
        "differing": list(comparison.differing),
        "runs": [_run(entry) for entry in comparison.entries],
        "scalability": scalability,
    }
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _run(entry: Entry) -> dict[str, Any]:
    manifest = entry.run.manifest
    numbers = asdict(entry.numbers)
    phases = [
        phase | {"throughput_bytes_per_s": source.throughput}
        for phase, source in zip(numbers.pop("phases"), entry.numbers.phases, strict=True)
    ]
    work = numbers.pop("work")
    numbers["simulation_throughput_bytes_per_s"] = numbers.pop("simulation_throughput")
    numbers["server_throughput_bytes_per_s"] = numbers.pop("server_throughput")
    return {
        "label": entry.name,
        "directory": str(entry.run.directory),
        "approach": manifest.approach,
        "simulation": manifest.simulation,
        "ranks": manifest.ranks,
        "cores": manifest.cores,
        "parameters": manifest.parameters,
        "counted": keeps_counts(entry.run),
        "departures": [asdict(departure) for departure in entry.departures],
        "messages": messages_of(entry.run),
        "steering": [asdict(steered) for steered in entry.run.steering],
        "visible_total_s": entry.numbers.visible_total_s,
        **numbers,
        "phases": phases,
        "server_work": work,
    }
