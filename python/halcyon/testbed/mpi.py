"""How `mpirun` on a host of a test bed reaches the other hosts, all through its environment."""

from halcyon.testbed.place import AGENT, MPICH_HOSTS, NETNS, OPEN_MPI_HOSTS, TEMPORARY, UTS
from halcyon.testbed.plan import Plan

_SLOTS = 64
"""Ranks on a host: as many as one likes. All hosts share the cores of one machine."""


def agent(plan: Plan) -> str:
    """A shell script in the place of ssh: [OPTION…] HOST COMMAND…; hosts go by name or address."""
    cases = "".join(
        f'{host.name}|{host.address}) name={host.name}; in_front="{" ".join(host.in_front)}" ;;\n'
        for host in plan.hosts
    )
    return (
        '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done\nhost=$1\nshift\n'
        f'case "$host" in\n{cases}*) echo "no host $host in this test bed" >&2; exit 255 ;;\nesac\n'
        f'exec nsenter --net={NETNS}/"$name" --uts={UTS}/"$name" -- $in_front sh -c "$*"\n'
    )


def open_mpi_hosts(plan: Plan) -> str:
    return "".join(f"{host.name} slots={_SLOTS}\n" for host in plan.compute_hosts)


def mpich_hosts(plan: Plan) -> str:
    return "".join(f"{host.name}\n" for host in plan.compute_hosts)


def environment() -> dict[str, str]:
    """For Open MPI and for MPICH. Ranks are spread over hosts one by one."""
    open_mpi = {
        "plm_rsh_agent": str(AGENT),
        "orte_default_hostfile": str(OPEN_MPI_HOSTS),
        "orte_tmpdir_base": str(TEMPORARY),
        "btl": "tcp,self",
        "btl_tcp_if_include": "eth0",
        "oob_tcp_if_include": "eth0",
        "rmaps_base_oversubscribe": "1",
        "rmaps_base_mapping_policy": "node",
        "hwloc_base_binding_policy": "none",
        "mpi_yield_when_idle": "1",
    }
    return {
        **{f"OMPI_MCA_{name}": value for name, value in open_mpi.items()},
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "HYDRA_LAUNCHER": "ssh",
        "HYDRA_LAUNCHER_EXEC": str(AGENT),
        "HYDRA_HOST_FILE": str(MPICH_HOSTS),
        "HYDRA_IFACE": "eth0",
    }
