"""Commands on hosts of a test bed behind gates: turns, files on chosen storage hosts, and the links between."""

from collections.abc import Iterator

import pytest

from halcyon.delta.commands import Command, OnBed
from halcyon.delta.runs import Key, Limits, Setup, run_once
from halcyon.testbed.bed import Bed, raised
from halcyon.testbed.place import BRICKS, MOUNTS
from halcyon.testbed.plan import Plan
from halcyon.testbed.requirements import unavailable

PLAN = Plan(compute=3, storage=2, mounts=3, storage_link_bits_per_s=10**8)
LIMITS = Limits(run_s=120.0, arrival_s=60.0)

pytestmark = pytest.mark.skipif(bool(unavailable(PLAN)), reason=unavailable(PLAN))


@pytest.fixture(scope="module")
def bed() -> Iterator[Bed]:
    with raised(PLAN) as standing:
        yield standing


def writer(name: str, hosts: tuple[str, ...], mebibytes: int) -> Command:
    write = f'dd if=/dev/zero of="$TESTBED_MOUNT/{name}-$(hostname)" bs=1M count={mebibytes} oflag=direct conv=notrunc'
    return Command(name, ("sh", "-c", write), hosts)


def setup(placed: tuple[tuple[str, str], ...] = ()) -> Setup:
    return Setup(writer("A", ("c1", "c2"), 8), writer("B", ("c3",), 4), str(MOUNTS), a_arrive=2, placed=placed)


def test_processes_on_all_hosts_are_held_and_start_together(bed: Bed) -> None:
    run = run_once(OnBed(bed), setup(), Key(dt_ns=100_000_000), LIMITS)
    assert run.a is not None
    assert run.b is not None
    assert (run.a.processes, run.a.bytes) == (2, 16 << 20)
    assert (run.b.processes, run.b.bytes) == (1, 4 << 20)
    assert run.dt_s is not None
    assert run.dt_s > 0


def test_hosts_of_one_command_have_the_turn_together(bed: Bed) -> None:
    run = run_once(OnBed(bed), setup(), Key("fcfs", 50_000_000), LIMITS)
    assert run.a is not None
    assert run.b is not None
    assert run.b.waited_s > run.a.waited_s
    assert run.b.begin_ns + run.b.seconds * 1e9 > run.a.begin_ns + run.a.seconds * 1e9
    assert run.a.unasked_bytes == run.b.unasked_bytes == 0


def test_files_lie_where_they_are_placed_in_every_run(bed: Bed) -> None:
    placed = (("A-c1", "s2"), ("A-c2", "s2"), ("B-c3", "s2"))
    for _ in range(2):
        run = run_once(OnBed(bed), setup(placed), Key(), LIMITS)
        assert run.link_share is not None
        for file, _ in placed:
            sizes = [bed.inside(BRICKS / host / file) for host in ("s1", "s2")]
            assert [path.exists() and path.stat().st_size > 0 for path in sizes] == [False, True]
