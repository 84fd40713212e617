"""A batch system of two nodes on one machine: a test bed with Slurm."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from halcyon.testbed import requirements
from halcyon.testbed.bed import raised
from halcyon.testbed.plan import Plan

PLAN = Plan(compute=2, storage=0, mounts=0, compute_link_bits_per_s=0, slurm=True)


def unavailable() -> str:
    """Why there can be no Slurm here; "" when there can."""
    return requirements.unavailable(PLAN)


@contextmanager
def two_nodes(second_in: Sequence[str] = ()) -> Iterator[list[str]]:
    """Yields a command that runs another one, such as `srun`, on the first of the two nodes.

    `second_in`: a command in front of the second node's daemon, such as `unshare --time`.
    """
    with raised(replace(PLAN, in_front={"c2": tuple(second_in)})) as bed:
        own = {name: value for name, value in bed.environment("c1", {}).items() if name.startswith("SLURM")}
        yield bed.command("c1", ["env", *(f"{name}={value}" for name, value in own.items())])
