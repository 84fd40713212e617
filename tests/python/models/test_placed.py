"""Where the files of a directory lie: on a stand-in for Lustre, and on a real GlusterFS."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from lustre import lustre_commands

from halcyon.errors import UsageError
from halcyon.models.measurements import read_targets
from halcyon.models.placed import placed_as, placed_in
from halcyon.testbed import place
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=1, storage=4, mounts=1)
on_a_bed = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture
def lustre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that stands for one on Lustre, with 8 targets of which one is inactive: a file's stripes are what it
    holds."""
    monkeypatch.setenv("PATH", f"{lustre_commands(tmp_path / 'bin', targets=8, inactive=[7])}:{os.environ['PATH']}")
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_files_of_a_directory_are_counted_on_their_targets(lustre: Path) -> None:
    (lustre / "below").mkdir()
    for name, stripes in {"a": "0 1 2", "below/b": "2 3", "c": "2"}.items():
        (lustre / name).write_text(stripes)
    (lustre / "link").symlink_to("a")
    (lustre / "composite").write_text("none")
    os.mkfifo(lustre / "pipe")
    told = placed_in(lustre)
    assert (told.files, told.fit.stripes, told.fit.total) == (3, 6, 7)
    assert told.stripes_on == {"OST0000": 1, "OST0001": 1, "OST0002": 3, "OST0003": 1}
    assert told.fit.actual == [3, 3, 0, 1]
    assert told.left_out == {"symbolic links": 1, "no layout told": 1, "no regular files": 1}
    assert told.fit.expected_in_use == pytest.approx(7 * (1 - (4 / 7) * (5 / 7) * (6 / 7)))


def test_the_number_of_targets_may_be_named(lustre: Path) -> None:
    (lustre / "a").write_text("0 1 2")
    assert placed_in(lustre, 480).fit.total == 480
    with pytest.raises(UsageError, match="--total 2; these files lie on 3 targets"):
        placed_in(lustre, 2)


def test_a_directory_without_layouts_is_refused_with_the_reasons(lustre: Path) -> None:
    (lustre / "a").write_text("none")
    with pytest.raises(UsageError, match=r"no file with a layout \(no layout told: 1\)\. Lustre is asked by `lfs"):
        placed_in(lustre)


def test_where_nobody_tells_the_targets_their_number_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{lustre_commands(tmp_path / 'bin', targets=0)}:{os.environ['PATH']}")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a").write_text("0")
    with pytest.raises(UsageError, match="--total N is missing"):
        placed_in(tmp_path / "data")


def test_a_local_file_system_tells_no_layouts(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"which tells no layout of files; expected Lustre or GlusterFS"):
        placed_in(tmp_path)
    with pytest.raises(UsageError, match="no such directory"):
        placed_in(tmp_path / "none")


def test_a_table_of_targets_that_does_not_add_up_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "targets.csv"
    path.write_text("stripes,targets,request\n0,1,2\n1,3,2\n")
    with pytest.raises(UsageError, match="3 stripes; expected a multiple of the 2 of each file"):
        placed_as("targets.csv", read_targets(path))
    path.write_text("stripes,targets,request\n1,2,2\n")
    told = placed_as("targets.csv", read_targets(path), 6)
    assert (told.files, told.fit.total, told.fit.actual[0]) == (1, 6, 4)


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with raised(PLAN) as standing:
        yield standing


def halcyon(bed: Bed, *arguments: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "halcyon", "model", *arguments]
    return bed.run("c1", command, env=environment, capture_output=True, timeout=120)


TRUTH = {"s1": 5, "s2": 3, "s3": 1}


@on_a_bed
def test_placed_files_of_a_real_file_system_are_found_where_they_are(bed: Bed) -> None:
    for server, files in TRUTH.items():
        for number in range(files):
            bed.place(f"placed/{server}/{number}", server)
    mount = bed.mounts_of("c1")[0]
    told = json.loads(halcyon(bed, "stripes", "--targets", str(mount / "placed"), "--json").stdout)
    assert told["stripes_on"] == {f"{server}:{place.BRICKS}/{server}": files for server, files in TRUTH.items()}
    assert told["fit"]["total"] == 4
    assert told["fit"]["actual"][:6] == [1, 1, 0, 1, 0, 1]
    assert told["fit"]["expected_in_use"] == pytest.approx(4 * (1 - 0.75**9))


@on_a_bed
def test_an_empty_directory_of_a_real_file_system_is_refused(bed: Bed) -> None:
    mount = bed.mounts_of("c1")[0]
    bed.run("c1", ["mkdir", str(mount / "empty")], check=True)
    done = halcyon(bed, "stripes", "--targets", str(mount / "empty"))
    assert done.returncode == 2
    assert "empty: no file with a layout. GlusterFS tells them to root alone" in done.stderr
