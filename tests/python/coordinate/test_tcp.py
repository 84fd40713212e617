"""Agents on other nodes: MUNGE says whose they are."""

import os
import signal
import socket
from collections.abc import Callable, Iterator

import pytest
from coordinator_process import LIMIT_S, OTHER_USER, PATIENT, CoordinatorProcess, as_user, wait_until
from munged_process import MUNGED, MungedProcess
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.coordinate.address import Address
from halcyon.coordinate.connection import Connection
from halcyon.errors import UnavailableError

Start = Callable[..., CoordinatorProcess]

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="being another user needs root"),
    pytest.mark.skipif(MUNGED is None, reason="needs munged, of Debian's package munge"),
]


@pytest.fixture
def munged() -> Iterator[MungedProcess]:
    made = MungedProcess()
    yield made
    made.end()


@pytest.fixture
def reached(prepare: Start, munged: MungedProcess) -> CoordinatorProcess:
    """A daemon at a Unix socket and at TCP."""
    of = prepare()
    listen = [f"unix:{of.socket}", "tcp:127.0.0.1:0"]
    of.configure(times=PATIENT, listen=listen, munge_socket=str(munged.socket))
    of.start()
    return of


def test_a_munged_that_does_not_answer_is_waited_for_as_long_as_the_coordinator(
    reached: CoordinatorProcess, munged: MungedProcess
) -> None:
    munged.process.send_signal(signal.SIGSTOP)
    try:
        with pytest.raises(UnavailableError, match=r"munged does not answer within 0\.5 s"):
            Connection(reached.tcp, 0.5, str(munged.socket))
    finally:
        munged.process.send_signal(signal.SIGCONT)


def register(at: Connection, job: str, secret: str) -> dict[str, object]:
    at.send({"type": "register", "version": 1, "job": job, "processes": 1, "nodes": 1, "node": "n2", "secret": secret})
    return at.receive()


def test_a_client_on_another_node_is_the_user_that_munge_names(
    reached: CoordinatorProcess, munged: MungedProcess
) -> None:
    a = Agent(reached, "A")
    a.begin()
    run_until([a], has_turn(a), "A has the turn")
    with as_user(OTHER_USER):
        thief = Connection(reached.tcp, LIMIT_S, str(munged.socket))
    with thief:
        answer = register(thief, "A", a.secret)
    assert answer["type"] == "refused"
    assert "another user" in str(answer["reason"])
    with Connection(reached.tcp, LIMIT_S, str(munged.socket)) as second_node:
        assert register(second_node, "A", a.secret)["type"] == "registered"
    assert reached.count("refused_claims") == 1
    assert reached.count("refused_identities") == 0


def test_a_credential_counts_once_and_for_one_connection(reached: CoordinatorProcess, munged: MungedProcess) -> None:
    at = reached.tcp

    def answered(make: Callable[[str, str], str]) -> str:
        """What the daemon says to the answer that `make` gives to its challenge."""
        with socket.create_connection((at.name, at.port), LIMIT_S) as raw:
            lines = raw.makefile("rw")
            nonce = lines.readline().strip().removeprefix("halcyon 1 munge ")
            ends = [":".join(map(str, end)) for end in (raw.getpeername(), raw.getsockname())]
            lines.write(make("\n".join(("halcyon line socket 1", nonce, *ends, "")), nonce) + "\n")
            lines.flush()
            return lines.readline().strip()

    used: list[str] = []

    def sign(payload: str, _: str) -> str:
        used.append(munged.sign(payload) or "")
        return used[-1]

    assert answered(sign) == "welcome"
    assert "welcome" not in answered(lambda *_: used[0])
    assert "welcome" not in answered(lambda *_: munged.sign("something else") or "")
    assert "welcome" not in answered(lambda *_: f"claim 0 0 {os.getpid()}")
    wait_until(lambda: reached.count("refused_identities") == 3, "three are refused")
    a = Agent(reached, "A")
    a.begin()
    run_until([a], heard(a, "grant"), "others are served")


def lines_of(one: socket.socket, number: int) -> list[str]:
    with one.makefile() as lines:
        return [lines.readline() for _ in range(number)]


def test_as_many_are_checked_at_a_time_as_may_be_unproven(reached: CoordinatorProcess, munged: MungedProcess) -> None:
    at = reached.tcp
    munged.process.send_signal(signal.SIGSTOP)
    try:
        asking = []
        for i in range(400):
            one = socket.create_connection((at.name, at.port), LIMIT_S, (f"127.0.2.{1 + i // 100}", 0))
            one.sendall(b"MUNGE:nonsense:\n")
            asking.append(one)
        honest = Connection(Address(str(reached.socket)))
        with honest:  # heard behind all of them
            honest.send({"type": "heartbeat"})
        wait_until(lambda: reached.count("accepted_connections") >= 401, "all are accepted")
        assert reached.count("refused_proving") == 0
    finally:
        munged.process.send_signal(signal.SIGCONT)
    for one in asking:
        challenge, answer = lines_of(one, 2)
        assert challenge.startswith("halcyon 1 munge ")
        assert answer.startswith("refused: MUNGE refuses the credential")
        one.close()
