"""Names of file systems by the magic numbers of statfs(2)."""

import subprocess
from pathlib import Path

_NAMES = {
    0xEF53: "ext4",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x01021994: "tmpfs",
    0x794C7630: "overlay",
    0x2FC12FC1: "zfs",
    0xF2F52010: "f2fs",
    0x6969: "nfs",
    0x0BD00BD0: "lustre",
    0x47504653: "gpfs",
    0x19830326: "beegfs",
    0x00C36400: "ceph",
    0x65735546: "fuse",
    0x01161970: "gfs2",
    0x7461636F: "ocfs2",
    0x20030528: "orangefs",
    0xFF534D42: "cifs",
    0xFE534D42: "smb2",
    0x5346414F: "afs",
    0x61636673: "acfs",
    0x9FA0: "proc",
    0x62656572: "sysfs",
}


def name_of_file_system(magic: int) -> str:
    """`ext4`, `lustre`, …; the number in hexadecimal where it is not known."""
    return _NAMES.get(magic & 0xFFFFFFFF, f"0x{magic & 0xFFFFFFFF:x}")


def file_system_at(path: Path) -> str | None:
    """The name of the file system on which `path` is; None: there is no such path."""
    asked = ["stat", "--file-system", "--format=%t", str(path)]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    return name_of_file_system(int(told.stdout, 16)) if told.returncode == 0 else None
