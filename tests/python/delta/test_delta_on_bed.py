"""Commands on hosts of a test bed behind gates: turns, files on chosen storage hosts, and the links between."""

from collections.abc import Iterator

import pytest

from halcyon.delta.commands import Command, OnBed
from halcyon.delta.runs import Key, Limits, Setup, Told, run_once
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


def end_ns(told: Told) -> float:
    return told.begin_ns + told.seconds * 1e9


def test_processes_on_all_hosts_are_held_and_start_together(bed: Bed) -> None:
    for _ in range(5):
        run = run_once(OnBed(bed), setup(), Key(dt_ns=100_000_000), LIMITS)
        assert run.a is not None
        assert run.b is not None
        if run.dt_s is not None and run.dt_s > 0:  # else A was late: the machine is busy
            break
    assert run.a is not None
    assert run.b is not None
    assert (run.a.processes, run.a.bytes) == (2, 16 << 20)
    assert (run.b.processes, run.b.bytes) == (1, 4 << 20)
    assert run.dt_s is not None
    assert run.dt_s > 0


def test_hosts_of_one_command_have_the_turn_together(bed: Bed) -> None:
    """Where a host of A is stopped for as long as separates phases, B's turn comes early, and where nobody is heard for
    a second, bytes move unasked: then once more."""
    for _ in range(10):
        run = run_once(OnBed(bed), setup(), Key("fcfs", 50_000_000), LIMITS)
        assert run.a is not None
        assert run.b is not None
        unasked = run.a.unasked_bytes + run.b.unasked_bytes
        if unasked == 0 and run.b.waited_s > run.a.waited_s and end_ns(run.b) > end_ns(run.a):
            break
    assert run.a is not None
    assert run.b is not None
    assert run.b.waited_s > run.a.waited_s
    assert end_ns(run.b) > end_ns(run.a)
    assert unasked == 0


def test_files_lie_where_they_are_placed_in_every_run(bed: Bed) -> None:
    placed = (("A-c1", "s2"), ("A-c2", "s2"), ("B-c3", "s2"))
    for _ in range(2):
        run = run_once(OnBed(bed), setup(placed), Key(), LIMITS)
        assert run.link_share is not None
        for file, _ in placed:
            sizes = [bed.inside(BRICKS / host / file) for host in ("s1", "s2")]
            assert [path.exists() and path.stat().st_size > 0 for path in sizes] == [False, True]
