"""Writes run directories for tests. The numbers are invented: drawn from a seeded generator, never measured.

The shapes are those of docs/run-directory.md; the distributions are only like what such approaches show, so that
figures have something to draw.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

START_NS = 1_700_000_000 * 10**9
PHASES = "iteration,rank,begin_ns,visible_ns,blocked_ns,compute_ns,bytes"
FILES = (
    "first_iteration,last_iteration,part,complete_ns,begin_ns,end_ns,slot_wait_ns,compress_ns,write_ns,"
    "raw_bytes,stored_bytes,compressed"
)
COUNTS: dict[str, Any] = {
    "finished": True, "iterations": 0, "blocks": 0, "bytes": 0, "skipped_blocks": 0, "skipped_bytes": 0,
    "spilled_blocks": 0, "spilled_bytes": 0, "inlined_blocks": 0, "inlined_bytes": 0, "early_parts": 0,
    "missing_blocks": 0, "incomplete_iterations": 0, "dead_clients": 0, "server_restarts": 0, "lost_signals": 0,
    "rejected_blocks": 0, "failed_files": 0, "failed_actions": 0,
    "switches": [], "busy_ns": 0, "idle_ns": 0, "messages": [],
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """What to invent."""

    approach: str = "halcyon"
    ranks: int = 2
    phases: int = 5
    nodes: int = 1
    compute_s: float = 1.0
    bytes_per_rank: int = 24_000_000
    parameters: Mapping[str, Any] | None = None
    compress: bool = False
    seed: int = 1


def write_manifest(directory: Path, **values: Any) -> None:
    """run.json with sensible values for whatever is not given."""
    directory.mkdir(parents=True, exist_ok=True)
    manifest = {
        "format": 1, "approach": "halcyon", "simulation": "cloud", "ranks": 2, "nodes": 1, "clients_per_node": [2],
        "dedicated_cores": 1, "started_ns": START_NS, "ended_ns": START_NS + 10**10, "parameters": {},
        "writers": ["n0000"], "compute_s": None, "run_s": None,
    }  # fmt: skip
    (directory / "run.json").write_text(json.dumps(manifest | values))


def write_csv(directory: Path, name: str, header: str, rows: Sequence[Sequence[int]]) -> Path:
    """A CSV file as a writer leaves it: every line ends with a newline."""
    path = directory / name
    path.write_text("".join(f"{line}\n" for line in [header, *(",".join(map(str, row)) for row in rows)]))
    return path


def write_counts(directory: Path, writer: str = "n0000", **values: Any) -> None:
    (directory / f"counts-{writer}.json").write_text(json.dumps(COUNTS | values))


def write_run(directory: Path, shape: Shape) -> Path:
    """A whole run of one approach: `halcyon`, `file-per-process`, `collective` or `none` (which has no output)."""
    random = np.random.default_rng(shape.seed)
    halcyon = shape.approach == "halcyon"
    now = START_NS
    per_node = np.array_split(np.arange(shape.ranks), shape.nodes)
    phases: list[list[list[int]]] = [[] for _ in per_node]
    ends: list[int] = []
    compute_total = 0
    for iteration in range(shape.phases if shape.approach != "none" else 0):
        compute = int(shape.compute_s * 1e9 * random.normal(1, 0.01))
        visible = (_visible_s(shape, random) * 1e9).astype(int)
        now += compute
        compute_total += compute
        for node, members in enumerate(per_node):
            for rank in members:
                row = [iteration, int(rank), now, int(visible[rank]), 0, compute, shape.bytes_per_rank]
                phases[node].append(row)
        now += int(visible.max())
        ends.append(now)
    if shape.approach == "none":
        compute_total = int(shape.phases * shape.compute_s * 1e9)
        now += compute_total
    write_manifest(
        directory, approach=shape.approach, ranks=shape.ranks, nodes=shape.nodes,
        clients_per_node=[len(members) for members in per_node], dedicated_cores=int(halcyon), ended_ns=now,
        parameters=dict(shape.parameters or {}), writers=[f"n{node:04}" for node in range(shape.nodes)],
        compute_s=compute_total / 1e9, run_s=(now - START_NS) / 1e9,
    )  # fmt: skip
    for node, rows in enumerate(phases):
        write_csv(directory, f"phases-n{node:04}.csv", PHASES, rows)
        if halcyon:
            _write_server(directory, f"n{node:04}", shape, random, ends, len(per_node[node]))
    return directory


def _visible_s(shape: Shape, random: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    whole = shape.bytes_per_rank * shape.ranks
    if shape.approach == "halcyon":
        return shape.bytes_per_rank / 6e9 * random.normal(1, 0.03, shape.ranks).clip(0.9)
    if shape.approach == "collective":
        return np.full(shape.ranks, whole / 40e6) * random.lognormal(0, 0.35) * random.normal(1, 0.02, shape.ranks)
    return whole / 120e6 * random.lognormal(-1, 0.8, shape.ranks).clip(0.05, 3) * random.lognormal(0, 0.3)


def _write_server(
    directory: Path, writer: str, shape: Shape, random: np.random.Generator, ends: list[int], clients: int
) -> None:
    rows, busy, free_at = [], 0, START_NS
    raw = shape.bytes_per_rank * clients
    for iteration, complete in enumerate(ends):
        begin = max(complete, free_at)
        compress = int(raw / 400e6 * 1e9) if shape.compress else 0
        write = int(raw / 150e6 * random.lognormal(0, 0.25) * 1e9)
        end = begin + compress + write
        stored = int(raw * (0.6 if shape.compress else 1.0))
        rows.append(
            [iteration, iteration, 0, complete, begin, end, 0, compress, write, raw, stored, int(shape.compress)]
        )
        busy += end - begin
        free_at = end
    write_csv(directory, f"server-{writer}.csv", FILES, rows)
    idle = max(0, max(ends, default=START_NS) - START_NS - busy)
    write_counts(directory, writer, iterations=len(ends), blocks=len(ends) * clients, busy_ns=busy, idle_ns=idle)
