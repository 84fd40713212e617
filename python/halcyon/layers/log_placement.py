"""Whether so many logs still pay: each is a file of its own, and storage targets are few (Wright 2014, section 6.3)."""

import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.models.stripes import GOOD_LOAD, STRIPES_OF_A_LOG, load_table, logs
from halcyon.mpi_launcher import is_launcher, own_options
from halcyon.observe.file_layout import targets_of
from halcyon.observe.file_systems import file_system_at
from halcyon.quantities import count, number, plural


@dataclass(frozen=True)
class Size:
    """How many processes a command starts, as far as its command line and the batch system say it."""

    ranks: int
    per_node: int | None = None

    @property
    def nodes(self) -> int | None:
        return math.ceil(self.ranks / self.per_node) if self.per_node else None


@dataclass(frozen=True)
class Crowding:
    """What so many logs do to the targets."""

    size: Size
    targets: int
    limit: float
    load: float
    """Expected stripes on a target in use."""
    ranks_at_limit: int
    load_by_nodes: float | None
    """With a log of each node for each file; None: nobody knows how many nodes there are."""

    @property
    def is_too_much(self) -> bool:
        return self.size.ranks >= self.ranks_at_limit


def size_of(command: Sequence[str], environment: Mapping[str, str] = os.environ) -> Size | None:
    """None: nobody says it."""
    ranks, per_node = _of_launcher(command) if is_launcher(command[0]) else (None, None)
    ranks = ranks or _number(environment.get("SLURM_NTASKS"))
    per_node = per_node or _number(environment.get("SLURM_NTASKS_PER_NODE"))
    if ranks and not per_node and (nodes := _number(environment.get("SLURM_NNODES"))):
        per_node = math.ceil(ranks / nodes)
    return Size(ranks, per_node) if ranks else None


def crowding(size: Size, targets: int, limit: float = GOOD_LOAD, stripes: int = STRIPES_OF_A_LOG) -> Crowding:
    """Of one file of each rank, `stripes` wide, on so many targets."""
    per_node = size.per_node or 1
    stripes = min(stripes, targets)
    at_limit = logs(targets, [], stripes=stripes, limit=limit, per_node=per_node).ranks_at_limit
    load = load_table(targets, stripes, [size.ranks])[0].load
    by_nodes = load_table(targets, stripes, [size.nodes])[0].load if size.nodes else None
    return Crowding(size, targets, limit, load, at_limit, by_nodes)


def targets_below(directory: Path) -> int | None:
    """How many storage targets the file system has. None: it does not say."""
    kind = file_system_at(directory)
    found = targets_of(directory, kind) if kind else None
    return len(found) if found else None


def say_if_crowded(
    directories: Sequence[str], command: Sequence[str], targets: int | None = None, limit: float = GOOD_LOAD
) -> None:
    """A line on standard error for each directory on which the command's logs pay no more. `targets`: None, as the file
    system says."""
    if (size := size_of(command)) is None:
        return
    for given in directories:
        known = targets or targets_below(Path(given))
        if known and (found := crowding(size, known, limit)).is_too_much:
            print(f"halcyon: --log {given}: {crowding_in_words(found)}", file=sys.stderr)


def crowding_in_words(of: Crowding) -> str:
    """One line: what is expected, up to where logs pay, and the way out."""
    ranks = of.size.ranks
    way_out = "logs of nodes put less on them: --logs-per node"
    if of.size.nodes and of.load_by_nodes is not None:
        way_out = (
            f"--logs-per node writes {plural(of.size.nodes, 'log')} of each file instead, with load "
            f"{number(of.load_by_nodes)}"
        )
    return (
        f"{count(ranks)} processes that write one file make {count(ranks)} logs on "
        f"{plural(of.targets, 'storage target')}: load {number(of.load)}. Up to load {number(of.limit)}, with fewer "
        f"than {count(of.ranks_at_limit)} processes, logs pay; {way_out}"
    )


def _of_launcher(command: Sequence[str]) -> tuple[int | None, int | None]:
    """As an mpirun's own options say; several programs, apart by colons, are not counted."""
    ranks: int | None = None
    per_node: int | None = None
    for option, *words in own_options(command).options:
        value = words[0] if words else None
        if option in ("n", "np", "c"):
            ranks = _number(value)
        elif option in ("N", "npernode", "ppn", "perhost"):
            per_node = _number(value)
        elif option == "map-by" and value and value.startswith("ppr:") and value.endswith(":node"):
            per_node = _number(value.split(":")[1])
    return ranks, per_node


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdecimal() and int(text) > 0 else None
