"""Slurm in a test bed: one slurmd on each compute host, the controller on the first one, one munged for all."""

from pathlib import Path

from halcyon.testbed.place import SLURM, SLURM_CONF
from halcyon.testbed.plan import Plan

MUNGE_KEY = SLURM / "munge.key"
MUNGE_SOCKET = SLURM / "munge.socket"
_CPUS = 4
"""That each host claims to have, so that several jobs fit beside one another."""


def configuration(plan: Plan) -> str:
    """Without accounting and control groups; jobs share hosts. Of lines that say the same, Slurm takes the last."""
    controller = plan.compute_hosts[0]
    nodes = "".join(f"NodeName={host.name} NodeAddr={host.address} CPUs={_CPUS}\n" for host in plan.compute_hosts)
    further = "".join(f"{line}\n" for line in plan.slurm_lines)
    return f"""\
ClusterName=testbed
SlurmctldHost={controller.name}({controller.address})
AuthType=auth/munge
AuthInfo=socket={MUNGE_SOCKET}
SlurmUser=root
SlurmdUser=root
StateSaveLocation={SLURM}/state
SlurmdSpoolDir={SLURM}/spool.%n
TmpFS={SLURM}/tmp.%n
SlurmctldPidFile={SLURM}/slurmctld.pid
SlurmdPidFile={SLURM}/slurmd.%n.pid
SlurmctldLogFile={SLURM}/slurmctld.log
SlurmdLogFile={SLURM}/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
ReturnToService=2
{nodes}PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE:16 State=UP
{further}"""


def folders(plan: Plan) -> list[Path]:
    """Made beforehand. PMIx makes a folder per step in TmpFS: hosts must not share one."""
    each = [SLURM / f"{kind}.{host.name}" for host in plan.compute_hosts for kind in ("spool", "tmp")]
    return [SLURM / "state", *each]


def munged() -> list[str]:
    files = {"socket": MUNGE_SOCKET, "pid-file": SLURM / "munge.pid", "log-file": SLURM / "munge.log",
             "seed-file": SLURM / "munge.seed", "key-file": MUNGE_KEY}  # fmt: skip
    return ["munged", "--foreground", "--force", *(f"--{option}={path}" for option, path in files.items())]


def environment() -> dict[str, str]:
    return {"SLURM_CONF": str(SLURM_CONF)}


STATES = ["sinfo", "--noheader", "--Node", "--format=%t"]
"""Prints a word per host: `idle` once it has registered."""
