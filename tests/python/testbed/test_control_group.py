"""The files of both versions of control groups, on a made-up tree: what is written where."""

from pathlib import Path

import pytest

from halcyon.testbed.control_group import make_control_group


def described(base: Path, mounts: str, own: str) -> tuple[Path, Path]:
    (base / "mounts").write_text(mounts)
    (base / "own").write_text(own)
    return base / "mounts", base / "own"


def test_version_1_limits_below_the_own_group(tmp_path: Path) -> None:
    (tmp_path / "blkio/job").mkdir(parents=True)
    files = described(tmp_path, f"cgroup {tmp_path}/blkio cgroup rw,blkio 0 0\n", "7:blkio:/job\n0::/\n")
    group = make_control_group("demo", *files)
    group.limit("7:3", 5000)
    group.limit("7:3", 6000, "read")
    assert group.path == tmp_path / "blkio/job/demo"
    assert (group.path / "blkio.throttle.read_bps_device").read_text() == "7:3 6000"
    assert (group.path / "blkio.throttle.write_bps_device").read_text() == "7:3 5000"


def test_version_1_uses_the_mount_point_where_a_container_hides_the_own_group(tmp_path: Path) -> None:
    (tmp_path / "blkio").mkdir()
    files = described(tmp_path, f"cgroup {tmp_path}/blkio cgroup rw,blkio 0 0\n", "7:blkio:/elsewhere\n")
    assert make_control_group("demo", *files).path == tmp_path / "blkio/demo"


def test_version_2_limits_beside_the_own_group_and_asks_for_the_controller(tmp_path: Path) -> None:
    (tmp_path / "session/shell").mkdir(parents=True)
    (tmp_path / "session/cgroup.subtree_control").write_text("cpu memory\n")
    files = described(tmp_path, f"none {tmp_path} cgroup2 rw 0 0\n", "0::/session/shell\n")
    group = make_control_group("demo", *files)
    group.limit("7:3", 5000)
    assert group.path == tmp_path / "session/demo"
    assert (group.path / "io.max").read_text() == "7:3 wbps=5000"
    group.limit("7:3", 6000, "read")
    assert (group.path / "io.max").read_text() == "7:3 rbps=6000"
    assert (tmp_path / "session/cgroup.subtree_control").read_text() == "+io"


def test_no_control_groups_is_said(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="no control groups"):
        make_control_group("demo", *described(tmp_path, "proc /proc proc rw 0 0\n", "0::/\n"))
