"""On which servers a file lies, as file systems tell it."""

import os
import stat
from pathlib import Path

import pytest

from halcyon.observe.file_layout import Layout, layout_of, targets_of

STRIPED = """lmm_stripe_count:  2
lmm_stripe_size:   1048576
lmm_pattern:       raid0
lmm_stripe_offset: 26
lmm_objects:
      - l_ost_idx: 26
        l_fid:     0x100010000:0x2:0x0
      - l_ost_idx: 3
        l_fid:     0x100020000:0x2:0x0
"""
COMPOSITE = "lcm_layout_gen: 2\ncomponent0:\n  lcme_id: 1\n"


@pytest.fixture
def lfs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for Lustre's own command that says what a file holds."""
    program = tmp_path / "bin" / "lfs"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\n[ "$1 $2" = "getstripe --yaml" ] || exit 2\nexec cat "$3"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path


def test_stripes_of_lustre_are_dealt_out_to_its_targets_in_their_order(lfs: Path) -> None:
    (lfs / "file").write_text(STRIPED)
    assert layout_of(lfs / "file", "lustre") == Layout(("OST001a", "OST0003"), 1 << 20)


def test_a_composite_layout_is_not_guessed(lfs: Path) -> None:
    (lfs / "file").write_text(COMPOSITE)
    assert layout_of(lfs / "file", "lustre") is None


@pytest.mark.parametrize("answer", ["", "not: [yaml", "- a list"])
def test_an_answer_that_makes_no_sense_is_none(lfs: Path, answer: str) -> None:
    (lfs / "file").write_text(answer)
    assert layout_of(lfs / "file", "lustre") is None


PATHS = {
    "(<DISTRIBUTE:dist-dht> <POSIX(/bricks/b2):node7:/bricks/b2/file>)": Layout(("node7:/bricks/b2",), None),
    "(<REPLICATE:rep-0> <POSIX(/b4):n:/b4/f> <POSIX(/b3):n:/b3/f>)": None,
    "": None,
}


@pytest.mark.parametrize("told", list(PATHS))
def test_gluster_tells_the_brick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: str) -> None:
    monkeypatch.setattr(os, "getxattr", lambda path, name: told.encode())
    assert layout_of(tmp_path, "fuse") == PATHS[told]


def test_a_local_file_has_no_layout(tmp_path: Path) -> None:
    assert layout_of(tmp_path, "ext4") is None
    assert layout_of(tmp_path / "gone", "fuse") is None


OSTS = """OBDS:
0: big-OST0000_UUID ACTIVE
1: big-OST0001_UUID INACTIVE
10: big-OST000a_UUID ACTIVE
"""


def test_targets_of_lustre_are_those_that_are_active(lfs: Path) -> None:
    program = lfs / "bin" / "lfs"
    program.write_text(f'#!/bin/sh\n[ "$1" = osts ] || exit 2\ncat <<END\n{OSTS}END\n')
    assert targets_of(lfs, "lustre") == ["OST0000", "OST000a"]
    program.write_text("#!/bin/sh\nexit 1\n")
    assert targets_of(lfs, "lustre") is None


def test_targets_of_gluster_are_the_bricks_of_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = "((<DISTRIBUTE:dht> <POSIX(/b/1):n1:/b/1/d> <POSIX(/b/2):n2:/b/2/d>) (dht-layout (n1 0 1) (n2 2 3)))"
    monkeypatch.setattr(os, "getxattr", lambda path, name: told.encode())
    assert targets_of(tmp_path, "fuse") == ["n1:/b/1", "n2:/b/2"]
    assert layout_of(tmp_path, "fuse") is None, "a directory lies on no single brick"
    monkeypatch.setattr(
        os, "getxattr", lambda path, name: b"(<REPLICATE:r> <POSIX(/b/1):n1:/b/1> <POSIX(/b/2):n2:/b/2>)"
    )
    assert targets_of(tmp_path, "fuse") is None


def test_a_local_directory_has_no_targets(tmp_path: Path) -> None:
    assert targets_of(tmp_path, "ext4") is None
