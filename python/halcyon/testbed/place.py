"""Where things lie inside a test bed. Its `/run` is its own, and vanishes with it."""

from pathlib import Path

RUN = Path("/run")
HOME = RUN / "testbed"
NETNS = RUN / "netns"
UTS = HOME / "uts"
LOGS = HOME / "log"
BRICKS = HOME / "bricks"
MOUNTS = HOME / "mounts"
TEMPORARY = HOME / "tmp"
SLURM = HOME / "slurm"
AGENT = HOME / "agent"
"""In the place of ssh: AGENT HOST COMMAND…"""
OPEN_MPI_HOSTS = HOME / "openmpi-hosts"
MPICH_HOSTS = HOME / "mpich-hosts"
SLURM_CONF = SLURM / "slurm.conf"
MEASURING = HOME / "measuring"
"""Locked by the one who measures."""
ENDED = HOME / "ended"
"""A line per daemon that ended: its name, a tab, and how it ended."""


def mount_point(host: str, place: int) -> Path:
    """Of one mount of a host, counted from 0."""
    return MOUNTS / host / str(place)


def on_host(host: str) -> list[str]:
    """Inside the bed: the command in front of one that is to run on a host."""
    return ["nsenter", f"--net={NETNS / host}", f"--uts={UTS / host}", "--"]
