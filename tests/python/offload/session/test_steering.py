"""Users steer a run: all ranks have the new value in the same iteration, whatever becomes of the server meanwhile."""

import json
import os
import random
import socket
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from running import Case, check_complete, finish, is_gone, stop_server, wait_for

from halcyon.cli import main
from halcyon.errors import UnavailableError, UsageError
from halcyon.insitu.steering import Steerable, Steering
from halcyon.offload.run_directory import open_run

STEERABLE = "kappa: {value: 1, min: 0, max: 1000, steerable: true}, tau: {value: 0, min: -1, max: 1, steerable: true}, "
HELLO = b"CLAH\1\0\0\0\3\0\0\0\0\0\0\0"
"""Of src/offload/segment/protocol.hpp."""
NOBODY = 65534


def configure(case: Case, **parts: str) -> None:
    case.configure(**parts)
    path = case.directory / "halcyon.yaml"
    path.write_text(path.read_text().replace("parameters: {", "parameters: {" + STEERABLE))


def steering(case: Case) -> Steering:
    """Once the session is open."""
    wait_for((case.output / "run.json").exists, what="the session is open")
    return Steering(case.output)


def check_values(case: Case, iterations: int) -> list[float]:
    """What every rank had for kappa in each iteration: the same, as the records say."""
    files = sorted(case.directory.glob("watched-*"))
    assert len(files) == case.ranks
    first, *others = ([float(line) for line in file.read_text().split()] for file in files)
    assert len(first) == iterations
    for other in others:
        assert other == first
    recorded = [1.0] * iterations
    for steered in open_run(case.output).steering:
        assert steered.process > 0
        assert (steered.user, steered.host) == (os.geteuid(), socket.gethostname())
        if steered.parameter == "kappa":
            recorded[steered.iteration :] = [steered.value] * len(recorded[steered.iteration :])
    assert first == recorded
    return first


def raw_connection(name: str) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(20)
    connection.connect(f"\0{name}")
    return connection


def socket_of(case: Case) -> str:
    return str(json.loads((case.output / "socket-n0000.json").read_text())["socket"])


@pytest.mark.parametrize("ranks", [2, 4])
def test_all_ranks_have_the_same_value_in_the_same_iteration(case: Case, ranks: int) -> None:
    """Under requests at random moments, as many as the server takes."""
    if case.mpi == "mpich" and ranks > 2:
        pytest.skip("ranks of MPICH that wait keep the cores busy")
    case.ranks = ranks
    configure(case)
    run = case.start("iterations=200", "pause_ms=2", "watch=kappa", case.gates(0, 200))
    chance = random.Random(ranks)
    with steering(case) as user:
        case.open_gate(0)
        while not case.data_file(199).exists():
            user.ask({"kappa": chance.randrange(1000)})
    case.open_gate(200)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert len(set(check_values(case, 200))) > 10


def test_values_reach_the_ranks_of_another_node(two_node_case: Case) -> None:
    configure(two_node_case)
    run = two_node_case.start("iterations=20", "watch=kappa", two_node_case.gates(5))
    two_node_case.wait_at_gate(5)
    on_first_node = two_node_case.launcher[: two_node_case.launcher.index("mpirun.openmpi")]
    said = subprocess.run(
        [*on_first_node, sys.executable, "-m", "halcyon", "steer", "out", "kappa=7", "--no-wait"],
        cwd=two_node_case.directory, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert said.stdout == "request 1 accepted: kappa = 7 when the iteration ends\n"
    with pytest.raises(UnavailableError, match="another network namespace"):
        Steering(two_node_case.output)
    two_node_case.open_gate(5)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    values = check_values(two_node_case, 20)
    assert (values[0], values[-1]) == (1, 7)


def test_what_a_killed_server_accepted_takes_effect_and_its_successor_is_steered(case: Case) -> None:
    configure(case)
    run = case.start("iterations=30", "watch=kappa", case.gates(4, 20))
    case.wait_at_gate(4)
    with steering(case) as user:
        request = user.ask({"kappa": 9})
        stop_server(case.server_process())
        with pytest.raises(UnavailableError, match="closed the connection"):
            user.wait(request, ["kappa"])
    case.open_gate(4)
    case.wait_at_gate(20)
    with steering(case) as user:
        assert user.parameters() == [Steerable("kappa", 9, 0, 1000), Steerable("tau", 0, -1, 1)]
        assert user.ask({"kappa": 10}) == request + 1
        case.open_gate(20)
        (effect,) = user.wait(request + 1, ["kappa"])
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    values = check_values(case, 30)
    assert set(values) == {1, 9, 10}
    assert values.index(10) == effect.iteration
    assert case.counts()["server_restarts"] == 1


def test_without_any_server_left_the_ranks_keep_the_same_values(openmpi_case: Case) -> None:
    configure(openmpi_case, server="max-restarts: 0")
    run = openmpi_case.start("iterations=20", "watch=kappa", openmpi_case.gates(4))
    openmpi_case.wait_at_gate(4)
    with steering(openmpi_case) as user:
        user.ask({"kappa": 9})
        stop_server(openmpi_case.server_process())
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert check_values(openmpi_case, 20)[-1] == 9, "what it accepted was lost"
    assert (openmpi_case.output / "steering-c00000.csv").exists()
    with pytest.raises(UnavailableError, match="the run has ended"):
        Steering(openmpi_case.output)


def test_the_end_of_a_run_is_not_held_up_by_whoever_is_connected(openmpi_case: Case) -> None:
    configure(openmpi_case)
    run = openmpi_case.start("iterations=3", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    with steering(openmpi_case) as user:
        request = user.ask({"kappa": 9})
        openmpi_case.open_gate(3)
        with pytest.raises(UnavailableError, match="closed the connection"):
            user.wait(request, ["kappa"])
        outcome = finish(run)
    assert outcome.status == 0, outcome.text
    (message,) = openmpi_case.counts()["messages"]
    assert message.startswith("parameter 'kappa' never became 9: the session ended before request 1 of process ")
    assert not (openmpi_case.output / "socket-n0000.json").exists()
    with pytest.raises(UnavailableError, match="the run has ended"):
        Steering(openmpi_case.output)


def test_ranks_may_end_more_iterations_than_rank_0(openmpi_case: Case) -> None:
    configure(openmpi_case)
    outcome = openmpi_case.run("iterations=5", "extra_rank=1")
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 5)


def test_an_end_of_an_iteration_after_mpi_finalize_waits_for_nobody(openmpi_case: Case) -> None:
    configure(openmpi_case)
    outcome = openmpi_case.run("iterations=5", "finalize_first=1")
    assert "MPI_Finalize was called before" in outcome.text
    check_complete(openmpi_case, 6)


def test_garbage_floods_and_huge_messages_change_nothing(openmpi_case: Case) -> None:
    configure(openmpi_case)
    run = openmpi_case.start("iterations=150", "pause_ms=2", "watch=kappa", openmpi_case.gates(0, 150))
    chance = random.Random(1)
    with steering(openmpi_case) as user:
        server = openmpi_case.server_process()
        openmpi_case.open_gate(0)
        flood = raw_connection(socket_of(openmpi_case))
        flood.send(HELLO)
        flood.setblocking(False)
        tried = read = 0
        while not openmpi_case.data_file(149).exists():
            for _ in range(1000):
                tried += 1
                with suppress(BlockingIOError, BrokenPipeError):
                    flood.send(b'{"set": {"tau": 5}}')
                    read += 1
            with closing(raw_connection(socket_of(openmpi_case))) as garbage:
                for message in (
                    HELLO[: chance.randrange(1, 16)],
                    HELLO,
                    chance.randbytes(60),
                    b"[" * 9000,
                    b"x" * 150_000,
                ):
                    with suppress(BrokenPipeError, ConnectionResetError):
                        garbage.send(message)
        assert tried > 10 * read, "the server reads as much as anybody sends"
        assert [known.name for known in user.parameters()] == ["kappa", "tau"]
        flood.close()
    openmpi_case.open_gate(150)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert set(check_values(openmpi_case, 150)) == {1}
    check_complete(openmpi_case, 150)
    counts = openmpi_case.counts()
    assert counts["server_restarts"] == counts["rejected_blocks"] == counts["dead_clients"] == 0
    assert openmpi_case.server_process() == server
    assert len((openmpi_case.output / "server-n0000.log").read_text().splitlines()) < 100
    wait_for(lambda: is_gone(server), what="the server ends")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
def test_another_user_is_refused(openmpi_case: Case) -> None:
    configure(openmpi_case)
    run = openmpi_case.start("iterations=3", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3)
    name = socket_of(openmpi_case)
    if (child := os.fork()) == 0:
        os.setresuid(NOBODY, NOBODY, NOBODY)
        with suppress(OSError), raw_connection(name) as connection:
            connection.send(HELLO)
            os._exit(len(connection.recv(1000)))
        os._exit(0)  # hung up before it could send
    assert os.waitpid(child, 0)[1] == 0, "the server answers another user"
    log = openmpi_case.output / "server-n0000.log"
    wait_for(lambda: f"process {child} belongs to user {NOBODY}, not 0" in log.read_text(), what="the server says so")
    openmpi_case.open_gate(3)
    assert finish(run).status == 0


def test_servers_of_other_nodes_name_the_one_that_is_steered(openmpi_case: Case) -> None:
    configure(openmpi_case, resources="  servers-per-node: 2", size="32 MiB")
    run = openmpi_case.start("iterations=3", openmpi_case.gates(3))
    openmpi_case.wait_at_gate(3, "n0001")
    with steering(openmpi_case) as user:
        assert len(user.parameters()) == 2
    assert not (openmpi_case.output / "socket-n0001.json").exists()
    second = openmpi_case.server_process("n0001")
    sockets = {str(link.readlink()) for link in Path(f"/proc/{second}/fd").iterdir()}
    listed = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()]
    (name,) = {line[-1][1:] for line in listed if f"socket:[{line[6]}]" in sockets and "@halcyon-" in line[-1]}
    with raw_connection(name) as connection:
        connection.send(HELLO)
        answer = json.loads(connection.recv(10_000))
    assert answer["error"] == "usage"
    assert "this is the server of node 1; steering goes through that of node 0" in answer["message"]
    openmpi_case.open_gate(3)
    assert finish(run).status == 0


def test_the_command_lists_and_sets_parameters(openmpi_case: Case, capsys: pytest.CaptureFixture[str]) -> None:
    out = str(openmpi_case.output)
    configure(openmpi_case)
    run = openmpi_case.start("iterations=60", "pause_ms=5", "watch=kappa", openmpi_case.gates(4, 60))
    openmpi_case.wait_at_gate(4)

    def say(*words: str) -> tuple[int, str]:
        code = main(["steer", *words])
        said = capsys.readouterr()
        return code, said.out + said.err.replace(out, "out")

    assert say(out) == (0, "kappa = 1 (0 to 1000)\ntau   = 0 (-1 to 1)\n")
    assert say(out, "kappa=2.5", "--no-wait") == (0, "request 1 accepted: kappa = 2.5 when the iteration ends\n")
    assert say(out)[1].startswith("kappa = 1 (0 to 1000); 2.5 when the iteration ends\n")
    assert say(out, "kapa=3") == (2, "halcyon: no parameter 'kapa'; steerable parameters: kappa, tau\n")
    assert say(out, "nz=3")[1] == "halcyon: parameter 'nz' is not steerable; steerable parameters: kappa, tau\n"
    assert say(out, "tau=3") == (2, "halcyon: parameter 'tau': 3 is too large; its max is 1\n")
    assert say(out, "tau=nan") == (2, "halcyon: parameter 'tau': nan is not a finite number\n")
    openmpi_case.open_gate(4)
    code, said = say(out, "kappa=7", "tau=0.5")
    assert code == 0
    openmpi_case.open_gate(60)
    assert finish(run).status == 0
    since = check_values(openmpi_case, 60).index(7)
    assert said.splitlines() == [
        "request 2 accepted: kappa = 7, tau = 0.5 when the iteration ends",
        f"kappa = 7 from iteration {since} on",
        f"tau = 0.5 from iteration {since} on",
    ]
    assert say(out) == (1, "halcyon: out: the run has ended\n")
    main(["summary", out])
    summary = capsys.readouterr().out
    asked_by = f"process {os.getpid()} of user {os.geteuid()} on {socket.gethostname()} at 20"
    assert f"steered: kappa = 7 from iteration {since} on, asked by {asked_by}" in summary


def test_runs_that_cannot_be_steered_say_why(openmpi_case: Case, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run\.json here"):
        Steering(tmp_path)
    openmpi_case.configure()
    run = openmpi_case.start("iterations=2", openmpi_case.gates(2))
    openmpi_case.wait_at_gate(2)
    with pytest.raises(UsageError, match="no parameter of its configuration has 'steerable: true'"):
        Steering(openmpi_case.output / "run.json")
    openmpi_case.open_gate(2)
    assert finish(run).status == 0
    inline = Case(tmp_path / "inline")
    inline.directory.mkdir()
    inline.configure(top="inline: true")
    run = inline.start("iterations=2", inline.gates(2))
    with pytest.raises(UsageError, match="approach halcyon-inline has no server"):
        steering(inline)
    inline.open_gate(2)
    assert finish(run).status == 0
