"""Whether this machine can hold a test bed."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from halcyon.testbed.plan import Plan

_ALWAYS = {
    "ip": "iproute2", "tc": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "setpriv": "util-linux",
    "mount": "mount", "hostname": "hostname",
}  # fmt: skip
_GLUSTER = {"glusterfsd": "glusterfs-server", "glusterfs": "glusterfs-client"}
_SLURM = {"slurmctld": "slurmctld", "slurmd": "slurmd", "srun": "slurm-client", "munged": "munge"}

NEEDS_ROOT = "a test bed needs root: it makes network namespaces and mounts"


def is_root() -> bool:
    """Whether this process may make them."""
    return os.geteuid() == 0


def unavailable(plan: Plan) -> str:
    """Why there can be no such bed on this machine; "" when there can."""
    if not is_root():
        return NEEDS_ROOT
    wanted = {**_ALWAYS, **(_GLUSTER if plan.storage else {}), **(_SLURM if plan.slurm else {})}
    lacking = {tool: package for tool, package in wanted.items() if find(tool) is None}
    if lacking:
        tools, packages = ", ".join(f"`{tool}`" for tool in lacking), ", ".join(dict.fromkeys(lacking.values()))
        return f"not installed: {tools} (Debian packages: {packages})"
    if plan.storage and not Path("/dev/fuse").exists():
        return "no /dev/fuse: this kernel, or this container, cannot mount GlusterFS"
    return _kernel_refuses()


def search_path() -> str:
    """Of programs; daemons are often outside of the path of those who are not root, and of scheduled jobs."""
    return os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"


def find(tool: str) -> str | None:
    """Its path."""
    return shutil.which(tool, path=search_path())


@cache
def _kernel_refuses() -> str:
    """Tried in namespaces of its own that end with the trial."""
    trial = (
        "mount -t tmpfs none /run && mkdir /run/netns && : > /run/netns/trial && "
        "unshare --net=/run/netns/trial true && ip link add here type veth peer name there netns trial && "
        "ip link add over type bridge && tc qdisc add dev here root tbf rate 1mbit burst 128kb latency 50ms"
    )
    namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    environment = os.environ | {"PATH": search_path()}
    done = subprocess.run(
        [*namespaces, "sh", "-c", trial], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode == 0:
        return ""
    said = " ".join((done.stderr or done.stdout).split()) or f"exit status {done.returncode}"
    return f"this kernel, or this container, refuses what a test bed is made of: {said}"
