"""Probing one storage target: on a stand-in for Lustre, and on a real GlusterFS. Speeds are not looked at."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lustre import lustre_commands

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.models.probe.placement import files_on_one_target
from halcyon.models.probe.probing import Probe, Rounds, doubts, probe
from halcyon.models.probe.writing import BLOCK_BYTES, takes_direct, write_together
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=1, storage=4, mounts=1)
on_a_bed = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture
def lustre(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PATH", f"{lustre_commands(tmp_path / 'bin', targets=6, first=4)}:{os.environ['PATH']}")
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


@pytest.mark.parametrize(("target", "found"), [(None, "OST0004"), ("3", "OST0003"), ("ost0005", "OST0005")])
def test_files_on_lustre_are_placed_by_index(lustre: Path, target: str | None, found: str) -> None:
    with files_on_one_target(lustre, 5, target) as placement:
        assert (placement.target, len(placement.files)) == (found, 5)
        assert all(file.exists() for file in placement.files)
        placement.check()
    assert list(lustre.iterdir()) == []


def test_a_file_that_moved_is_told(lustre: Path) -> None:
    with files_on_one_target(lustre, 2) as placement:
        Path(f"{placement.files[1]}.stripes").write_text("1")
        with pytest.raises(HalcyonSystemError, match="lies no longer on OST0004: OST0001"):
            placement.check()


@pytest.mark.parametrize(
    ("target", "message"),
    [("OSTx", "--target OSTx: expected an index such as 26"), ("17", "bad index 17")],
)
def test_a_target_that_is_none_is_refused(lustre: Path, target: str, message: str) -> None:
    with pytest.raises((UsageError, HalcyonSystemError), match=message), files_on_one_target(lustre, 2, target):
        pass
    assert list(lustre.iterdir()) == []


def test_files_are_removed_when_the_block_raises(lustre: Path) -> None:
    with pytest.raises(KeyboardInterrupt), files_on_one_target(lustre, 2):
        raise KeyboardInterrupt
    assert list(lustre.iterdir()) == []


def test_a_local_file_system_offers_no_choice(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="which gives no choice of target"), files_on_one_target(tmp_path, 1):
        pass


def made(lustre: Path, rounds: int) -> Probe:
    return probe(lustre, [3], rounds, BLOCK_BYTES)


def test_each_round_has_one_writer_twice_and_all_others_once(lustre: Path) -> None:
    told = made(lustre, 4)
    assert [(one.writers, len(one.bytes_per_s)) for one in told.rounds] == [(1, 4), (3, 4)]
    assert len(told.control.bytes_per_s) == 4
    alone = told.contention.steps[0]
    both = told.rounds[0].bytes_per_s + told.control.bytes_per_s
    assert (alone.low_bytes_per_s, alone.high_bytes_per_s) == (min(both), max(both))
    assert told.contention.steps[1].ideal_high_bytes_per_s == max(both) / 3
    assert list(lustre.iterdir()) == []


def test_few_rounds_forbid_a_conclusion() -> None:
    assert doubts(Rounds(1, [100.0] * 6), Rounds(1, [95.0] * 6)) == []
    [few] = doubts(Rounds(1, [100.0] * 5), Rounds(1, [100.0] * 5))
    assert few.startswith("5 rounds; only from 6 on")


def test_one_writer_that_differs_from_itself_forbids_a_conclusion() -> None:
    [unsteady] = doubts(Rounds(1, [100e6] * 6), Rounds(1, [80e6] * 6))
    assert unsteady.startswith("one writer alone got 100 MB/s, and measured again 80.0 MB/s: 20 % apart")


@pytest.mark.parametrize("size", [0, 1, BLOCK_BYTES + 1])
def test_a_size_that_is_no_block_is_refused(lustre: Path, size: int) -> None:
    with pytest.raises(UsageError, match="expected a multiple of 1 MiB"):
        probe(lustre, [2], 1, size)


@pytest.mark.parametrize("writers", [[1], [257]])
def test_numbers_of_writers_out_of_bounds_are_refused(lustre: Path, writers: list[int]) -> None:
    with pytest.raises(UsageError, match="expected numbers from 2 to 256"):
        probe(lustre, writers, 1, BLOCK_BYTES)


def test_each_writer_writes_its_bytes_anew(tmp_path: Path) -> None:
    files = [tmp_path / "a", tmp_path / "b"]
    for file in files:
        file.write_bytes(b"x" * 5 * BLOCK_BYTES)
    assert len(write_together(files, 2 * BLOCK_BYTES, takes_direct(files[0]))) == 2
    assert [file.stat().st_size for file in files] == [2 * BLOCK_BYTES] * 2


def test_a_writer_that_fails_ends_all(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    (tmp_path / "b").mkdir()
    with pytest.raises(HalcyonSystemError, match="b: Is a directory"):
        write_together([tmp_path / "a", tmp_path / "b"], BLOCK_BYTES, direct=False)


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with raised(PLAN) as standing:
        yield standing


WATCH = """
import sys
from pathlib import Path
from halcyon.models.probe import probing
from halcyon.observe.file_layout import layout_of

folder = Path(sys.argv[1])
def look(line):
    for file in sorted(folder.glob(".halcyon-probe-*/*")):
        print(layout_of(file, "fuse").servers[0], file.stat().st_size)
    print()
told = probing.probe(folder, [2, 3], 2, 1 << 20, sys.argv[2] if len(sys.argv) > 2 else None, look)
print(told.target)
"""


def run(bed: Bed, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "COLUMNS": "120", "NO_COLOR": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    return bed.run("c1", [sys.executable, *command], env=environment, capture_output=True, timeout=120)


def empty(bed: Bed, name: str) -> Path:
    """A directory of its own on the bed's file system."""
    path = bed.mounts_of("c1")[0] / name
    bed.run("c1", ["mkdir", str(path)], check=True)
    return path


@on_a_bed
@pytest.mark.parametrize("target", [None, "s3"])
def test_all_files_of_a_round_lie_on_one_target_of_a_real_file_system(bed: Bed, target: str | None) -> None:
    folder = empty(bed, f"watched-{target}")
    done = run(bed, "-c", WATCH, str(folder), *([target] if target else []))
    assert done.returncode == 0, done.stderr
    *looks, named = done.stdout.rstrip().split("\n\n")
    assert len(looks) == 3, "before, and after each round"
    for look in looks:
        assert Counter(line.split()[0] for line in look.split("\n")) == {named: 3}
    sizes = {line.split()[1] for look in looks[1:] for line in look.split("\n")}
    assert sizes == {str(1 << 20)}
    assert target is None or named.startswith(f"{target}:")
    assert list(bed.inside(folder).iterdir()) == []


@on_a_bed
def test_the_command_measures_a_real_target(bed: Bed) -> None:
    folder = empty(bed, "measured")
    small = ["--writers", "2", "--rounds", "2", "--bytes", "1MiB"]
    done = run(bed, "-m", "halcyon", "model", "probe", str(folder), *small, "--points", "wright:F.2", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert [step["writers"] for step in told["probe"]["contention"]["steps"]] == [1, 2]
    assert told["probe"]["direct"] is True
    assert told["probe"]["doubts"][0].startswith("2 rounds; only from 6 on")
    assert len(told["points"]["steps"]) == 16
    assert "will be written in all" in done.stderr
    assert list(bed.inside(folder).iterdir()) == []


@on_a_bed
@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_probe_leaves_no_files(bed: Bed, end: signal.Signals) -> None:
    folder = empty(bed, f"interrupted-{end}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "halcyon", "model", "probe", str(folder), "--rounds", "1000"]
    # In a session of its own: the signal goes to all of it, as that of a terminal does.
    running = bed.popen("c1", command, env=environment, stderr=subprocess.PIPE, start_new_session=True)
    assert running.stderr is not None
    assert "will be written in all" in running.stderr.readline()
    assert len(list(bed.inside(folder).glob(".halcyon-probe-*/writer-*"))) >= 8
    os.killpg(running.pid, end)
    _, said = running.communicate(timeout=60)  # the first of the session ends at once; the probe holds its output
    assert "Traceback" not in said
    assert list(bed.inside(folder).iterdir()) == []


@on_a_bed
def test_a_target_that_the_real_file_system_lacks_is_refused_with_those_it_has(bed: Bed) -> None:
    done = run(bed, "-m", "halcyon", "model", "probe", str(empty(bed, "refused")), "--target", "s9")
    assert done.returncode == 2
    assert "--target s9: no such target; expected one of: s1:/" in done.stderr
