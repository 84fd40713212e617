"""A program on one node, its coordinator on another; the link is cut while the program has the turn, or waits."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import node_network
import pytest
from coordinator_process import STALLING, CoordinatorProcess, wait_until
from munged_process import MUNGED, MungedProcess
from scripted_agents import Agent, has_turn, run_until
from told_program import BLOCK, ToldProgram, asks_and_waits, states, waits

Prepare = Callable[..., CoordinatorProcess]
PORT = 7410

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0 or not node_network.are_possible(), reason="needs network namespaces"),
    pytest.mark.skipif(MUNGED is None, reason="needs munged, of Debian's package munge"),
    pytest.mark.usefixtures("library"),
]


@pytest.fixture
def cluster(prepare: Prepare, tmp_path: Path) -> Iterator[tuple[CoordinatorProcess, node_network.Nodes, ToldProgram]]:
    folder = tmp_path / "scratch"
    folder.mkdir()
    munged = MungedProcess()
    with node_network.two_nodes() as nodes:
        of = prepare()
        address = f"tcp:{node_network.SERVER}:{PORT}"
        of.configure(
            paths=[str(folder)], address=address, listen=[f"unix:{of.socket}", address],
            munge_socket=str(munged.socket), times=STALLING,
        )  # fmt: skip
        of.start(where=nodes.on_server())
        program = ToldProgram(of, folder, nodes.on_client(munged.folder))
        yield of, nodes, program
        if program.process.poll() is None:
            program.process.kill()
            program.process.wait()
        munged.end()


def has_its_turn(program: ToldProgram, other: Agent) -> None:
    """For a second block: the first one may have been under way unasked when the program seemed to wait."""
    other.release()
    run_until([other], program.has_written, "it goes on")
    program.ask()
    run_until([other], program.has_written, "it has its turn")


def test_a_holder_that_is_cut_off_goes_on_unasked_and_another_one_has_the_turn(
    cluster: tuple[CoordinatorProcess, node_network.Nodes, ToldProgram],
) -> None:
    of, nodes, program = cluster
    program.ask()
    wait_until(program.has_written, "the first block is written")
    assert of.count("grants") + of.count("standing") >= 1
    nodes.cut()
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "another application has the turn")
    for _ in range(2):
        program.ask()
        run_until([other], program.has_written, "it goes on though nobody answers")
    nodes.mend()
    run_until([other], lambda: asks_and_waits(program, of), "the program waits, as always")
    has_its_turn(program, other)
    in_turn, unasked = program.end()
    assert in_turn >= 2 * BLOCK
    assert unasked >= 2 * BLOCK
    assert in_turn + unasked == pytest.approx(program.asked * BLOCK, rel=0.01)


def test_one_that_waits_and_is_cut_off_goes_on_unasked_and_waits_again_later(
    cluster: tuple[CoordinatorProcess, node_network.Nodes, ToldProgram],
) -> None:
    of, nodes, program = cluster
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "the other one has the turn")
    program.ask()
    run_until([other], lambda: waits(program, of), "the program waits")
    assert not program.has_written()
    nodes.cut()
    run_until([other], program.has_written, "it goes on though nobody answers")
    assert other.has_turn
    run_until([other], lambda: states(of) == [], "the daemon has forgotten it")
    nodes.mend()
    run_until([other], lambda: asks_and_waits(program, of), "it waits again")
    has_its_turn(program, other)
    in_turn, unasked = program.end()
    assert in_turn >= BLOCK
    assert unasked >= BLOCK
    assert in_turn + unasked == pytest.approx(program.asked * BLOCK, rel=0.01)


def test_an_agent_gives_up_a_connection_that_nothing_comes_through_and_is_back_after_the_cut(
    cluster: tuple[CoordinatorProcess, node_network.Nodes, ToldProgram],
) -> None:
    of, nodes, program = cluster
    program.ask()
    wait_until(program.has_written, "the first block is written")
    wait_until(lambda: nodes.connections(PORT) == 1, "the agent has a connection")
    nodes.cut()
    wait_until(lambda: nodes.connections(PORT) == 0, "the agent gives the connection up")
    nodes.mend()
    other = Agent(of, "other")
    other.begin()
    run_until([other], has_turn(other), "another application has the turn")
    run_until([other], lambda: asks_and_waits(program, of), "the program is back, and waits")
    other.release()
    run_until([other], program.has_written, "it has its turn")
    program.end()
