"""Clients that are broken, mistaken or hostile harm nobody but themselves."""

import json
import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from ipaddress import IPv4Address
from pathlib import Path

import pytest
from coordinator_process import LIMIT_S, OTHER_USER, PATIENT, CoordinatorProcess, as_user, wait_until
from scripted_agents import Agent, has_turn, heard, run_until

from halcyon.coordinate.address import Address
from halcyon.coordinate.connection import Connection
from halcyon.errors import UnavailableError

Start = Callable[..., CoordinatorProcess]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="sockets of other users need root")


def raw(of: CoordinatorProcess, user: int | None = None) -> socket.socket:
    made = socket.socket(socket.AF_UNIX)
    made.settimeout(LIMIT_S)
    with as_user(user):
        made.connect(str(of.socket))
    return made


def serves(of: CoordinatorProcess, *others: Agent) -> None:
    """Turns pass between two other applications, as always."""
    a, b = Agent(of, "honest A"), Agent(of, "honest B")
    a.begin()
    run_until([a, b, *others], has_turn(a), "A has the turn")
    b.begin()
    run_until([a, b, *others], heard(b, "wait"), "B waits")
    a.release()
    run_until([a, b, *others], has_turn(b), "B has the turn")
    b.release()
    a.connection.close()
    b.connection.close()


def tcp_of(of: CoordinatorProcess) -> int:
    """The port of a daemon that believes everybody."""
    of.configure(insecure=True, listen=[f"unix:{of.socket}", "tcp:127.0.0.1:0"], times=PATIENT)
    of.start()
    assert of.tcp.port is not None
    return of.tcp.port


def resident_bytes(of: CoordinatorProcess) -> int:
    """The most memory that the daemon ever had."""
    status = Path(f"/proc/{of.pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10


def test_garbage_is_answered_and_counted(start: Start) -> None:
    of = start()
    chance = random.Random(16)
    kinds = [
        lambda: chance.randbytes(chance.randrange(1, 400)).replace(b"\n", b" "),
        lambda: json.dumps({"type": chance.choice(["register", "inform", "grant", "x" * 300, 7, None])}).encode(),
        lambda: b"[" * 5000,
        lambda: b'{"type": "inform", "phase": ' + str(-(10 ** chance.randrange(1, 300))).encode() + b"}",
        lambda: b"",
    ]
    with raw(of) as mad:
        answers = 0
        for sent in range(100, 10_001, 100):
            mad.sendall(b"".join(chance.choice(kinds)() + b"\n" for _ in range(100)))
            while answers < sent:
                got = mad.recv(1 << 16)
                assert got, "the connection stays"
                answers += got.count(b"\n")
        assert answers == 10_000
    refused = [of.count(f"refused_{why}") for why in ("not_json", "unknown_type", "wrong_field")]
    assert sum(refused) == 10_000
    assert min(refused) > 0
    serves(of)


def test_a_line_of_a_gibibyte_is_cut_off(start: Start) -> None:
    of = start()
    sent = 0
    with raw(of) as mad:
        some = b"x" * (1 << 20)
        try:
            while sent < 1 << 30:
                sent += mad.send(some)
        except OSError:
            pass
    assert of.count("refused_long_lines") == 1
    assert sent < 1 << 30, "all of it was read"
    assert resident_bytes(of) < 64 << 20
    serves(of)


FLOOD = """
import json, socket, sys, os
path, user = sys.argv[1], int(sys.argv[2])
os.setgid(user); os.setuid(user)
kept = []
for i in range(100_000):
    one = socket.socket(socket.AF_UNIX)
    one.connect(path)
    try:
        one.sendall(json.dumps({"type": "register", "version": 1, "job": f"j{i}", "processes": 1, "nodes": 1,
                                "node": "n", "secret": "sixteen characters"}).encode() + b"\\n")
    except OSError:
        pass  # refused already
    kept.append(one)
    if len(kept) > 1500:
        kept.pop(0).close()
    if i % 10_000 == 0:
        print(i, flush=True)
"""


@needs_root
def test_a_flood_of_registrations_leaves_other_users_served(start: Start) -> None:
    of = start(limits={"applications": 1000})
    flood = subprocess.Popen(
        [sys.executable, "-c", FLOOD, str(of.socket), str(OTHER_USER)], stdout=subprocess.PIPE, text=True
    )
    assert flood.stdout is not None
    assert flood.stdout.readline() == "0\n"
    rounds = 0
    while flood.poll() is None or rounds == 0:
        serves(of)
        rounds += 1
    assert flood.returncode == 0
    assert of.count("registrations") >= 1000
    assert of.count("refused_registrations") > 0
    wait_until(lambda: of.top().load.applications == 0, "all are forgotten")
    assert resident_bytes(of) < 256 << 20


@needs_root
def test_more_connections_than_a_user_may_have_are_refused(start: Start) -> None:
    of = start(limits={"connections": 10}, times=PATIENT)
    opened = [raw(of, OTHER_USER) for _ in range(15)]
    wait_until(lambda: of.count("refused_connections") == 5, "5 are refused")
    assert b"too many connections" in opened[-1].recv(1 << 16)
    serves(of)
    for one in opened:
        one.close()


@needs_root
def test_more_messages_than_a_user_may_send_close_the_connection(start: Start) -> None:
    of = start(limits={"messages-per-second": 1, "messages-at-once": 100})
    with raw(of, OTHER_USER) as mad:
        mad.sendall(b'{"type": "heartbeat"}\n' * 200)
        answer = b""
        while some := mad.recv(1 << 16):
            answer += some
    assert b"too many messages" in answer
    assert of.count("refused_rate") == 1


@needs_root
def test_a_client_that_never_reads_is_closed(start: Start) -> None:
    of = start()
    with raw(of, OTHER_USER) as mad:
        mad.settimeout(0.05)
        line = b'{"type": "' + b"q" * 600 + b'"}\n'
        limit = time.monotonic() + LIMIT_S
        while of.count("closed_slow_readers") == 0:
            assert time.monotonic() < limit
            try:
                mad.send(line * 10)
            except TimeoutError:
                continue
            except OSError:
                break
    # A text of metrics that took long to make, on a busy machine, is given for a while.
    wait_until(lambda: of.count("closed_slow_readers") == 1, "it is counted")
    serves(of)


@needs_root
def test_buffers_of_a_user_are_bounded_together(start: Start) -> None:
    of = start(limits={"buffer": "1 MiB"}, times=PATIENT)
    opened = [raw(of, OTHER_USER) for _ in range(60)]
    for one in opened:
        one.sendall(b"x" * 40_000)  # a line that does not end
    wait_until(lambda: of.count("closed_buffers") > 0, "some are closed")
    serves(of)
    for one in opened:
        one.close()


@needs_root
def test_descriptors_that_run_out_are_survived(prepare: Callable[..., CoordinatorProcess]) -> None:
    of = prepare(times=PATIENT)
    of.start(descriptors=64)
    opened = []
    for user in range(3000, 3008):
        for _ in range(14):
            try:
                opened.append(raw(of, user))
            except OSError:
                continue
    limit = time.monotonic() + LIMIT_S
    while True:  # connections beyond are closed at once
        assert time.monotonic() < limit
        opened[-1].setblocking(False)
        try:
            if opened[-1].recv(1) == b"":
                break
        except BlockingIOError:
            time.sleep(0.01)
        except OSError:
            break
    for one in opened:
        one.close()
    wait_until(lambda: of.answers(), "it listens still")
    serves(of)
    assert of.count("refused_descriptors") > 0


@needs_root
def test_only_administrators_may_ask(start: Start) -> None:
    of = start()
    with as_user(OTHER_USER):
        stranger = Connection(of.address)
    with stranger:
        stranger.send({"type": "top"})
        assert stranger.receive()["type"] == "refused"
    assert of.count("refused_operators") == 1
    named = start(administrators=[OTHER_USER])
    with as_user(OTHER_USER):
        administrator = Connection(named.address)
    with administrator:
        assert administrator.ask({"type": "top"})[0]["type"] == "load"


def test_nobody_is_an_administrator_by_a_mere_claim(prepare: Callable[..., CoordinatorProcess]) -> None:
    of = prepare()
    port = tcp_of(of)
    assert "is insecure" in of.log.read_text()
    with Connection(Address("127.0.0.1", port)) as claims:  # to be this user, which may be root
        claims.send({"type": "top"})
        refused = claims.receive()
        assert refused["type"] == "refused"
        assert refused["reason"].startswith(
            "claims over an insecure address never make an administrator: let 'listen' of coordinators.yaml name"
        )


def nodes_that_connect(port: int, nodes: int, each: int, first: str = "127.0.1.1") -> Iterator[list[socket.socket]]:
    """Connections that say nothing yet, of each node."""
    for node in range(nodes):
        source = (str(IPv4Address(first) + node), 0)
        yield [socket.create_connection(("127.0.0.1", port), LIMIT_S, source) for _ in range(each)]


def first_line(of: socket.socket) -> str:
    return of.makefile().readline().strip()


def are_welcome(connections: list[socket.socket]) -> bool:
    """All claim before any answer is read: there are 10 s for that."""
    for one in connections:
        one.sendall(b"claim 65534 65534 1\n")
    answers = [one.makefile() for one in connections]
    return all([one.readline(), one.readline()] == ["halcyon 1 insecure\n", "welcome\n"] for one in answers)


def test_thousands_of_nodes_may_connect_at_once(prepare: Callable[..., CoordinatorProcess]) -> None:
    of = prepare()
    port = tcp_of(of)
    opened = [one for of_node in nodes_that_connect(port, 500, 3) for one in of_node]
    wait_until(lambda: of.count("accepted_connections") >= len(opened), "all are accepted")
    assert are_welcome(opened)
    assert of.count("refused_proving") + of.count("refused_identities") == 0
    for one in opened:
        one.close()


def test_a_node_that_shows_no_identity_keeps_no_other_node_from_doing_so(
    prepare: Callable[..., CoordinatorProcess],
) -> None:
    of = prepare()
    port = tcp_of(of)
    silent, honest = nodes_that_connect(port, 2, 200)
    lines = list(map(first_line, silent))
    assert lines[:128] == ["halcyon 1 insecure"] * 128
    assert lines[128:] == ["refused: too many connections are being checked; try again"] * 72
    assert are_welcome(honest[:128])
    assert are_welcome([socket.create_connection(("127.0.0.1", port), LIMIT_S, ("127.0.1.2", 0))])
    assert of.count("refused_proving") == 72 + 72
    (mine,) = nodes_that_connect(port, 1, 128, first="127.0.0.1")
    with pytest.raises(UnavailableError, match="try again"):
        Connection(Address("127.0.0.1", port))
    for one in (*silent, *honest, *mine):
        one.close()


def test_a_connection_that_breaks_at_once_is_forgotten(start: Start) -> None:
    of = start()
    for _ in range(200):
        raw(of).close()
    wait_until(lambda: 'halcyon_coordinator_connections{coordinator="scratch"} 0\n' in of.metrics(), "all are gone")
    with pytest.raises(UnavailableError):
        Connection(type(of.address)(str(of.socket) + "x"))
