"""`collective: true`: all servers of a world write one file for each group of iterations."""

import os
import random
import signal

import h5py
import numpy as np
import pytest
from running import Case, Outcome, expected_block, finish, stop_server, wait_for
from small_disk import small_disk
from world import TwoNodes, finish_world, log_of, run_beside_world, start_beside_world, start_two_node_run

from halcyon.offload.diff import diff

pytestmark = pytest.mark.usefixtures("_world_server")

TOGETHER = ", collective: true"


def check_view(case: Case, iterations: int, nz: int = 4) -> None:
    """The view holds what every rank wrote; its blocks lie side by side along the last dimension."""
    with h5py.File(case.output / "tiny.h5") as view:
        assert list(view["time"][...]) == list(range(iterations))
        for name in case.variables:
            whole = view[name]
            assert whole.attrs["units"] == "K"
            assert whole.shape == (iterations, nz, 8, 16 * case.ranks)
            for time in range(iterations):
                for rank in range(case.ranks):
                    seen = whole[time, :, :, 16 * rank : 16 * (rank + 1)]
                    np.testing.assert_array_equal(seen, expected_block(name, time, rank, (nz, 8, 16)))


def check_wholes(case: Case) -> dict[int, str]:
    """iteration → collective file, each of which is equal to the view value for value."""
    found = {}
    with h5py.File(case.output / "tiny.h5") as view:
        for path in sorted(case.output.glob("tiny.all.*.h5")):
            with h5py.File(path) as file:
                numbers = [int(i) for i in file[".halcyon/iterations"][...]]
                for name in case.variables:
                    np.testing.assert_array_equal(file[name]["whole"][...], view[name][numbers[0] : numbers[-1] + 1])
            found |= dict.fromkeys(numbers, path.name)
    return found


def files_of(case: Case, writer: str) -> list[str]:
    return sorted(p.name for p in case.output.glob(f"tiny.{writer}.*.h5"))


def leftovers(case: Case) -> list[str]:
    return [p.name for p in case.output.iterdir() if p.name.endswith(".tmp") or p.name.startswith(".tiny.")]


def node_file_run(case: Case, *options: str, **parts: str) -> Case:
    """The same run without `collective`, beside it."""
    other = Case(case.directory / "by-nodes", case.mpi, case.ranks, case.variables)
    other.directory.mkdir()
    other.configure(**parts)
    outcome = other.run(*options)
    assert outcome.status == 0, outcome.text
    return other


def test_one_file_for_each_group_is_equal_to_the_node_files_of_the_same_run(case: Case) -> None:
    case.variables = ("theta", "wind")
    case.configure(store=TOGETHER + ", iterations-per-file: 3")
    outcome = run_beside_world(case, "iterations=8")
    assert outcome.status == 0, outcome.text
    assert files_of(case, "all") == [f"tiny.all.i{i:08}.h5" for i in (0, 3, 6)]
    assert files_of(case, "n*") == leftovers(case) == []
    check_view(case, 8)
    assert sorted(check_wholes(case)) == list(range(8))
    assert diff(case.output, node_file_run(case, "iterations=8").output) == []
    counts = case.counts()
    assert counts["finished"]
    assert counts["iterations"] == 8
    assert counts["missing_blocks"] == counts["failed_files"] == 0
    rows = (case.output / "server-n0000.csv").read_text().splitlines()[1:]
    assert [tuple(int(v) for v in row.split(",")[:2]) for row in rows] == [(0, 2), (3, 5), (6, 7)]


@pytest.mark.parametrize("store", ["", ", durable: true"])
def test_a_client_can_wait_until_its_share_is_durable(openmpi_case: Case, store: str) -> None:
    openmpi_case.configure(store=TOGETHER + ", iterations-per-file: 2" + store)
    outcome = run_beside_world(openmpi_case, "iterations=5", "wait=durable")
    assert outcome.status == 0, outcome.text
    check_view(openmpi_case, 5)
    assert openmpi_case.counts()["messages"] == []


def test_a_difference_between_a_collective_and_a_node_file_run_is_found(openmpi_case: Case) -> None:
    openmpi_case.configure(store=TOGETHER)
    assert run_beside_world(openmpi_case, "iterations=2").status == 0
    other = node_file_run(openmpi_case, "iterations=2")
    with h5py.File(other.output / "tiny.n0000.i00000001.h5", "r+") as file:
        file["theta/d000001"][0, 2, 3, 5] = -1
    found = diff(openmpi_case.output, other.output)
    assert [d.what for d in found] == ["theta, iteration 1: 1 of 1024 values, the first at [2, 3, 21]"]


def test_two_nodes_write_together(two_nodes: TwoNodes) -> None:
    case, nodes = two_nodes
    case.variables = ("theta", "qv")
    case.configure(store=TOGETHER + ", iterations-per-file: 4")
    # Each rank waits for its iteration in the middle of a group, before the other node's has ended it.
    world, run = start_two_node_run(case, nodes, "iterations=10", "wait=stored")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    check_view(case, 10)
    assert sorted(check_wholes(case)) == list(range(10))
    assert files_of(case, "n*") == leftovers(case) == []
    for writer in ("n0000", "n0001"):
        assert case.counts(writer)["finished"]
        assert case.counts(writer)["iterations"] == 10


def test_two_nodes_fill_their_groups_when_nobody_waits(two_nodes: TwoNodes) -> None:
    case, nodes = two_nodes
    case.configure(store=TOGETHER + ", iterations-per-file: 4")
    world, run = start_two_node_run(case, nodes, "iterations=10")
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    assert files_of(case, "all") == [f"tiny.all.i{i:08}.h5" for i in (0, 4, 8)]
    check_view(case, 10)


def test_a_full_buffer_on_one_node_while_the_other_waits_for_it(two_nodes: TwoNodes) -> None:
    """Rank 1 begins when rank 0 has ended four iterations, of which rank 0's buffer holds one and a half."""
    case, nodes = two_nodes
    case.variables = tuple(f"v{i}" for i in range(4))
    case.configure(store=TOGETHER, nz="256", size="1 MiB")
    world, run = start_two_node_run(case, nodes, "iterations=6", "ahead=4")
    outcome = finish(run, 120)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    check_view(case, 6, nz=256)
    assert case.counts("n0000")["early_parts"] > 0
    assert files_of(case, "all") == [f"tiny.all.i{i:08}.h5" for i in range(6)]
    assert leftovers(case) == []
    other = node_file_run(case, "iterations=6", nz="256")
    assert diff(case.output, other.output) == []


def test_without_a_world_it_is_refused_with_the_way_out(openmpi_case: Case) -> None:
    openmpi_case.configure(store=TOGETHER)
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "stores.main.collective" in outcome.ranks[0]["open"]
    assert "halcyon run --servers-per-node 1" in outcome.ranks[0]["open"]


def test_inline_it_is_refused(openmpi_case: Case) -> None:
    openmpi_case.configure(top="inline: true", store=TOGETHER)
    outcome = openmpi_case.run("iterations=1")
    assert outcome.status != 0
    assert "stores.main.collective" in outcome.ranks[0]["open"]
    assert "inline: true" in outcome.ranks[0]["open"]


def test_what_a_killed_client_left_is_stored_and_marked(openmpi_case: Case) -> None:
    openmpi_case.configure(store=TOGETHER + ", iterations-per-file: 2")
    options = ("iterations=30", "pause_ms=5", "together=1", "die_rank=1", "die_at=7", "die=kill")
    assert run_beside_world(openmpi_case, *options).status != 0
    assert openmpi_case.counts()["finished"]
    assert openmpi_case.counts()["dead_clients"] > 0
    assert leftovers(openmpi_case) == []
    with h5py.File(openmpi_case.output / "tiny.h5") as view:
        shown = view["theta"].shape[0]
        assert shown >= 7
        for time in range(7):
            for rank in range(2):
                seen = view["theta"][time, :, :, 16 * rank : 16 * (rank + 1)]
                np.testing.assert_array_equal(seen, expected_block("theta", time, rank, (4, 8, 16)))


def test_when_the_world_dies_node_files_follow_and_the_view_shows_both(case: Case) -> None:
    case.configure(store=TOGETHER + ", iterations-per-file: 2")
    run = start_beside_world(case, "iterations=40", case.gates(6))
    wait_for(lambda: len(files_of(case, "all")) == 3, what="the files of all servers before the gate")
    stop_server(case.server_process())
    case.open_gate(6)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert "the server world is gone: from now on each node writes files of its own" in log_of(case)
    assert [s["what"] for s in case.counts()["switches"]] == ["files of all servers off"]
    assert len(files_of(case, "all")) == 3
    assert files_of(case, "n0000")
    assert leftovers(case) == []
    check_view(case, 40)
    assert diff(case.output, node_file_run(case, "iterations=40").output) == []


@pytest.mark.parametrize("seed", range(4))
def test_a_server_of_two_nodes_killed_at_any_moment_loses_nothing(two_nodes: TwoNodes, seed: int) -> None:
    case, nodes = two_nodes
    case.configure(store=TOGETHER + ", iterations-per-file: 3")
    chosen = random.Random(seed)
    world, run = start_two_node_run(case, nodes, "iterations=60", "pause_ms=5", case.gates(60))
    ended, node = chosen.randrange(1, 50), chosen.randrange(2)
    phases = case.output / "phases-n0000.csv"
    wait_for(lambda: phases.exists() and phases.read_text().count("\n") > ended, what=f"iteration {ended}")
    victim = pid_in(log_of(case, node))
    stop_server(victim)
    case.open_gate(60)
    outcome = finish(run)
    assert finish(world).status != 0
    assert outcome.status == 0, outcome.text
    check_view(case, 60)
    assert leftovers(case) == []


def pid_in(log: str) -> int:
    return int(log.rsplit(", process ", 1)[1].split(",")[0]) if ", process " in log else 0


def test_a_full_disk_is_said_and_counted_and_what_was_stored_stays(openmpi_case: Case) -> None:
    openmpi_case.configure(store=TOGETHER, nz="512", server="threads: 1, retry: 300 ms")
    with small_disk(openmpi_case.output, "2m"):
        outcome: Outcome = run_beside_world(openmpi_case, "iterations=6")
        assert outcome.status != 0
        told = " ".join(rank["error"] for rank in outcome.ranks.values())
        assert "No space left on device" in told, told
        assert "tiny.all.i" in told
        assert leftovers(openmpi_case) == []
        stored = len(files_of(openmpi_case, "all"))
        counts = openmpi_case.counts()
        assert counts["failed_files"] == 6 - stored > 0
        assert counts["missing_blocks"] == 2 * (6 - stored)
        assert any("trying again" in m for m in counts["messages"])
        assert any("given up" in m for m in counts["messages"])


def test_a_stopped_server_of_two_nodes_holds_the_files_back_and_loses_nothing(
    two_nodes: TwoNodes,
) -> None:
    case, nodes = two_nodes
    case.configure(store=TOGETHER)
    world, run = start_two_node_run(case, nodes, "iterations=30", case.gates(3))
    wait_for(lambda: len(files_of(case, "all")) == 3, what="a few files")
    late = pid_in(log_of(case, 1))
    os.kill(late, signal.SIGSTOP)
    case.open_gate(3)
    try:
        wait_for(lambda: (case.output / "phases-n0000.csv").read_text().count("\n") > 15, what="node 0 goes on")
    finally:
        os.kill(late, signal.SIGCONT)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    finish_world(world)
    check_view(case, 30)
