"""Hosts of a test bed: names, links, file system, MPI, Slurm."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from killed_brick import kill_brick

from halcyon.errors import HalcyonSystemError, UsageError
from halcyon.testbed import place
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable
from halcyon.testbed.status import status_of

PLAN = Plan(compute=3, storage=2, mounts=6, brick_bytes=64 << 20, slurm=True)

pytestmark = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with raised(PLAN) as standing:
        yield standing


def said(bed: Bed, host: str, *command: str) -> str:
    done = bed.run(host, command, capture_output=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_each_host_has_its_name_and_address(bed: Bed) -> None:
    for host in PLAN.hosts:
        assert said(bed, host.name, "hostname") == host.name
        assert f" {host.address}/" in said(bed, host.name, "ip", "-o", "-4", "addr", "show", "eth0")


def test_commands_run_in_the_current_folder_with_all_files_of_the_machine(bed: Bed, tmp_path: Path) -> None:
    (tmp_path / "here").write_text("seen")
    assert said(bed, "c2", "cat", str(tmp_path / "here")) == "seen"
    assert said(bed, "c2", "pwd") == str(Path.cwd())


def test_a_current_folder_that_is_gone_is_named(bed: Bed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(HalcyonSystemError, match="the current folder: No such file or directory"):
        bed.command("c1", ["true"])


def test_links_have_the_rates_of_the_plan(bed: Bed) -> None:
    for host, bits_per_s in (("c1", 10**9), ("s2", 4 * 10**8)):
        [bucket] = json.loads(said(bed, host, "tc", "-j", "qdisc", "show", "dev", "eth0"))
        assert bucket["kind"] == "tbf"
        assert bucket["options"]["rate"] == bits_per_s / 8
        assert bucket["options"]["burst"] == pytest.approx(128 << 10, rel=0.01)  # the kernel counts ticks


def test_hosts_know_one_another_however_many_there_are() -> None:
    """More pairs of hosts than the kernel's table of neighbours takes by itself: 24 times 24, both ways."""
    with raised(Plan(compute=24, storage=24, mounts=24)) as many:
        known = said(many, "c24", "ip", "neigh", "show").splitlines()
        assert sorted(line.split()[0] for line in known) == sorted(
            host.address for host in many.plan.hosts if host.name != "c24"
        )
        assert all(line.split()[-1] == "PERMANENT" for line in known)


def test_all_mounts_show_the_same_files(bed: Bed) -> None:
    said(bed, "c1", "sh", "-c", 'echo written > "$TESTBED_MOUNT/seen-by-all"')
    for host, mount in bed.mounts():
        assert said(bed, host.name, "cat", str(mount / "seen-by-all")) == "written"
    assert len(bed.mounts()) == len({mount for _, mount in bed.mounts()}) == 6


@pytest.mark.parametrize("server", ["s1", "s2"])
def test_a_placed_file_is_on_its_server_alone(bed: Bed, server: str) -> None:
    bed.place(f"placed/on-{server}", server)
    said(bed, "c3", "sh", "-c", f'echo data > "$TESTBED_MOUNT/placed/on-{server}"')
    sizes = {
        one: (bed.inside(place.BRICKS) / one / f"placed/on-{server}").stat().st_size
        for one in ("s1", "s2")
        if (bed.inside(place.BRICKS) / one / f"placed/on-{server}").exists()
    }
    assert sizes.pop(server) == 5
    assert set(sizes.values()) <= {0}, "a pointer to the other server, at most"


@pytest.mark.parametrize("file", ["/etc/passwd", "../escape", "", "a/../../b"])
def test_a_file_is_placed_nowhere_else(bed: Bed, file: str) -> None:
    with pytest.raises(UsageError, match="expected a path in the test bed's file system"):
        bed.place(file, "s1")


def test_a_file_is_placed_once_and_on_storage_hosts(bed: Bed) -> None:
    bed.place("once", "s1")
    with pytest.raises(UsageError, match="--place once: exists already"):
        bed.place("once", "s2")
    with pytest.raises(UsageError, match="'c1' is no storage host"):
        bed.place("other", "c1")


@pytest.mark.parametrize("launcher", ["mpirun.openmpi", "mpirun.mpich"])
def test_ranks_are_spread_over_compute_hosts(bed: Bed, launcher: str) -> None:
    if shutil.which(launcher) is None:
        pytest.skip(f"no {launcher}")
    hosts = said(bed, "c1", launcher, "-n", "2", "hostname").split()
    assert sorted(hosts) == ["c1", "c2"]


def test_slurm_runs_two_jobs_at_once(bed: Bed, tmp_path: Path) -> None:
    """Each waits for the other one."""
    wait = 'touch "$0.$1"; timeout 30 sh -c "until [ -e $0.$2 ]; do sleep 0.05; done" && hostname'
    jobs = [
        bed.popen("c1", ["srun", "-w", host, "sh", "-c", wait, str(tmp_path / "job"), own, other],
                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for host, own, other in (("c2", "a", "b"), ("c3", "b", "a"))
    ]  # fmt: skip
    told = [job.communicate(timeout=60) for job in jobs]
    assert [out.strip() for out, _ in told] == ["c2", "c3"], told


def test_a_full_server_refuses_and_the_other_one_goes_on(bed: Bed) -> None:
    bed.place("full/on-s1", "s1")
    bed.place("full/on-s2", "s2")
    fill = 'dd if=/dev/zero of="$TESTBED_MOUNT/full/on-$0" bs=1M count=$1 oflag=direct'
    try:
        full = bed.run("c1", ["sh", "-c", fill, "s1", "80"], capture_output=True)
        assert full.returncode != 0
        assert "No space left on device" in full.stderr
        [free] = [one.free_bytes for one in status_of(bed).hosts if one.name == "s1"]
        assert free is not None
        assert free < 1 << 20
        assert bed.run("c1", ["sh", "-c", fill, "s2", "8"], capture_output=True).returncode == 0
    finally:
        said(bed, "c1", "sh", "-c", 'rm -r "$TESTBED_MOUNT/full"')
    assert not bed.ended_daemons()


def test_what_is_not_there_is_refused_by_name(bed: Bed) -> None:
    with pytest.raises(UsageError, match="no host 'c9'; hosts of this test bed: c1, c2, c3, s1, s2"):
        bed.run("c9", ["true"])
    assert bed.run("c1", ["no-such-command"], capture_output=True).returncode == 127


def test_a_killed_brick_is_named_and_its_files_alone_are_gone() -> None:
    with raised(Plan(compute=1, storage=2, mounts=1)) as bed:
        for server in ("s1", "s2"):
            bed.place(f"on-{server}", server)
        assert not status_of(bed).ended
        kill_brick(bed, "s1")
        [ended] = status_of(bed).ended
        assert (ended.name, ended.how) == ("brick s1", "signal 9")
        write = 'echo x > "$TESTBED_MOUNT/on-$0"'
        lost = bed.run("c1", ["sh", "-c", write, "s1"], capture_output=True)
        assert lost.returncode != 0
        assert "Transport endpoint is not connected" in lost.stderr
        assert bed.run("c1", ["sh", "-c", write, "s2"], capture_output=True).returncode == 0
        with pytest.raises(HalcyonSystemError, match="another: "):
            bed.place("another", "s1")


def test_a_file_is_placed_on_the_only_server_by_its_own_name() -> None:
    with raised(Plan(compute=1, storage=1, mounts=1)) as bed:
        bed.place("data/one", "s1")
        assert said(bed, "c1", "sh", "-c", 'ls "$TESTBED_MOUNT/data"') == "one"


def test_one_core_is_enough() -> None:
    all_cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(all_cores)})
    try:
        with raised(PLAN) as bed:
            assert said(bed, "c1", "nproc") == "1"
            said(bed, "c1", "sh", "-c", 'dd if=/dev/zero of="$TESTBED_MOUNT/x" bs=1M count=8 oflag=direct')
    finally:
        os.sched_setaffinity(0, all_cores)
