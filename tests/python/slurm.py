"""A batch system of two nodes on one machine: Slurm's daemons, started by hand in two network namespaces."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import namespaces

READY_S = 60
"""Until both nodes have registered."""

CONFIGURATION = """
ClusterName=halcyon
SlurmctldHost=node1({network}.1)
AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool.%n
TmpFS={directory}/tmp.%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd.%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
NodeName=node1 NodeAddr={network}.1 CPUs=4
NodeName=node2 NodeAddr={network}.2 CPUs=4
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:4 State=UP
"""


def unavailable() -> str:
    """Why there can be no Slurm here; "" when there can."""
    for program in ("slurmctld", "slurmd", "srun", "munged"):
        if not shutil.which(program):
            return f"no `{program}` command (packages slurmctld, slurmd, slurm-client, munge)"
    return namespaces.unavailable()


@contextmanager
def two_nodes(directory: Path, second_in: str = "") -> Iterator[list[str]]:
    """Yields a command that runs another one, such as `srun`, on the first of the two nodes.

    `second_in`: a command in front of the second node's daemon, such as `unshare --time`.
    """
    # PMIx makes a folder for each step: the nodes must not share one.
    for folder in ("state", "spool.node1", "spool.node2", "tmp.node1", "tmp.node2"):
        (directory / folder).mkdir()
    configuration = directory / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(network=namespaces.NETWORK, directory=directory))
    (directory / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")
    environment = {**os.environ, "SLURM_CONF": str(configuration)}
    with namespaces.joined() as (names, _), ExitStack() as stack:

        def start(*command: str) -> None:
            log = stack.enter_context((directory / "daemons.log").open("ab"))
            daemon = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            stack.callback(_end, daemon)

        start(*_munged(directory))
        _wait_until(lambda: (directory / "munge.socket").exists(), directory)
        on_node = [["ip", "netns", "exec", name, "unshare", "--uts", "sh", "-c"] for name in names]
        start(*on_node[0], "hostname node1; exec slurmctld -D")
        start(*on_node[0], "hostname node1; exec slurmd -D")
        start(*on_node[1], f"hostname node2; exec {second_in} slurmd -D")
        entered = ["ip", "netns", "exec", names[0], "env", f"SLURM_CONF={configuration}"]
        states = [*entered, "sinfo", "--noheader", "--Node", "--format=%t"]
        _wait_until(lambda: _said(states).split() == ["idle", "idle"], directory)
        yield entered


def _munged(directory: Path) -> list[str]:
    key = directory / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    files = {"socket": "munge.socket", "pid-file": "munge.pid", "log-file": "munge.log", "seed-file": "munge.seed"}
    options = [f"--{option}={directory / name}" for option, name in files.items()]
    return ["munged", "--foreground", "--force", f"--key-file={key}", *options]


def _said(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True).stdout


def _wait_until(is_so: Callable[[], bool], directory: Path) -> None:
    limit = time.monotonic() + READY_S
    while not is_so():
        logs = "\n".join(path.read_text() for path in sorted(directory.glob("*.log")))
        assert time.monotonic() < limit, logs
        time.sleep(0.05)


def _end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()
