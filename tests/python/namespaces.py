"""Two nodes on one machine: the networks of two hosts of a test bed, one MPI rank in each.

Only networks are entered: tests look at processes, and end them, by the ids that these processes know themselves by.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halcyon.testbed import place, requirements
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan

PLAN = Plan(compute=2, storage=0, mounts=0, compute_link_bits_per_s=0)


def unavailable() -> str:
    """Why there can be no namespaces here; "" when there can."""
    return requirements.unavailable(PLAN)


def _open_mpi(agent: Path) -> list[str]:
    addresses = [host.address for host in PLAN.hosts]
    return [
        "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
        "--host", ",".join(f"{address}:1" for address in addresses), "--mca", "plm_rsh_agent", str(agent),
        "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0", "--mca", "oob_tcp_if_include", "eth0",
    ]  # fmt: skip


def _mpich(agent: Path) -> list[str]:
    return [
        "mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", str(agent), "-iface", "eth0",
        "-hosts", ",".join(host.address for host in PLAN.hosts), "-ppn", "1",
    ]  # fmt: skip


_LAUNCHERS = {"openmpi": _open_mpi, "mpich": _mpich}


def on_network(bed: Bed, host: str) -> list[str]:
    """The command in front of one that is to use a host's network, and nothing else of it."""
    return ["nsenter", f"--net={bed.inside(place.NETNS / host)}", "--"]


@contextmanager
def joined() -> Iterator[list[list[str]]]:
    """Two networks that reach each other: for each the command in front of one that is to use it."""
    with raised(PLAN) as bed:
        yield [on_network(bed, host.name) for host in PLAN.hosts]


@contextmanager
def two_nodes(directory: Path, second_in: str = "", mpi: str = "openmpi") -> Iterator[list[str]]:
    """Yields the launcher that puts one rank into each of two networks; removes them afterwards.

    `second_in`: a command in front of what runs on the second node, such as `unshare --time`. `mpi`: or `mpich`.
    """
    with joined() as (first, second):
        agent = directory / "agent.sh"
        # Options of ssh come first with MPICH.
        agent.write_text(
            '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done; host=$1; shift\n'
            f'[ "$host" = {PLAN.hosts[0].address} ] && exec {" ".join(first)} sh -c "$*"\n'
            f'exec {second_in} {" ".join(second)} sh -c "$*"\n'
        )
        agent.chmod(0o755)
        yield [*first, *_LAUNCHERS[mpi](agent)]
