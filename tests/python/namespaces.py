"""Two nodes on one machine: network namespaces joined by a pair of virtual interfaces, one MPI rank in each."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NETWORK = "10.77.0"


def unavailable() -> str:
    """Why there can be no namespaces here; "" when there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not shutil.which("ip"):
        return "no `ip` command (package iproute2)"
    probe = f"hal-probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, text=True)
    if made.returncode != 0:
        return f"no network namespace can be made: {made.stderr.strip()}"
    try:
        # Entering one needs mounts as well, and interfaces need a right of their own.
        for words in (["netns", "exec", probe, "true"], ["-n", probe, "link", "set", "lo", "up"]):
            done = subprocess.run(["ip", *words], capture_output=True, text=True)
            if done.returncode != 0:
                return f"a network namespace can be made, but not used: {done.stderr.strip()}"
    finally:
        subprocess.run(["ip", "netns", "del", probe], check=True)
    return ""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


def _open_mpi(agent: Path, _: str) -> list[str]:
    return [
        "mpirun.openmpi", "--allow-run-as-root", "--oversubscribe",
        "--host", f"{NETWORK}.1:1,{NETWORK}.2:1", "--mca", "plm_rsh_agent", str(agent),
        "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", f"{NETWORK}.0/24",
        "--mca", "oob_tcp_if_include", f"{NETWORK}.0/24",
    ]  # fmt: skip


def _mpich(agent: Path, link: str) -> list[str]:
    return [
        "mpiexec.mpich", "-launcher", "ssh", "-launcher-exec", str(agent), "-iface", link,
        "-hosts", f"{NETWORK}.1,{NETWORK}.2", "-ppn", "1",
    ]  # fmt: skip


_LAUNCHERS = {"openmpi": _open_mpi, "mpich": _mpich}


@contextmanager
def joined() -> Iterator[tuple[list[str], list[str]]]:
    """Two namespaces that reach each other as NETWORK.1 and NETWORK.2: their names, and those of their interfaces."""
    tag = str(os.getpid())
    names = [f"hal-{tag}-{i}" for i in (1, 2)]
    links = [f"h{tag}v{i}"[-15:] for i in (1, 2)]
    try:
        for name in names:
            ip("netns", "add", name)
        ip("link", "add", links[0], "type", "veth", "peer", "name", links[1])
        for i, (name, link) in enumerate(zip(names, links, strict=True), start=1):
            ip("link", "set", link, "netns", name)
            ip("netns", "exec", name, "ip", "addr", "add", f"{NETWORK}.{i}/24", "dev", link)
            ip("netns", "exec", name, "ip", "link", "set", link, "up")
            ip("netns", "exec", name, "ip", "link", "set", "lo", "up")
        yield names, links
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True)


@contextmanager
def two_nodes(directory: Path, second_in: str = "", mpi: str = "openmpi") -> Iterator[list[str]]:
    """Yields the launcher that puts one rank into each of two namespaces; removes them afterwards.

    `second_in`: a command in front of what runs on the second node, such as `unshare --time`. `mpi`: or `mpich`.
    """
    with joined() as (names, links):
        agent = directory / "agent.sh"
        # Options of ssh come first with MPICH.
        agent.write_text(
            '#!/bin/sh\nwhile [ "${1#-}" != "$1" ]; do shift; done; host=$1; shift\n'
            f'[ ${{host##*.}} = 1 ] && exec ip netns exec {names[0]} sh -c "$*"\n'
            f'exec {second_in} ip netns exec {names[1]} sh -c "$*"\n'
        )
        agent.chmod(0o755)
        yield ["ip", "netns", "exec", names[0], *_LAUNCHERS[mpi](agent, links[0])]
