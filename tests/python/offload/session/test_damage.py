"""Shared memory that somebody overwrote, and strangers at the server's socket: the server goes on, and says so."""

import ctypes
import errno
import os
import resource
import signal
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from subprocess import Popen

import pytest
from running import Case, check_complete, finish, is_gone, processes_of, wait_for
from segment import FIRST_RING, PAGES, Word, damage


def copy_descriptor(held: int, descriptor: int) -> int:
    """pidfd_getfd(2): a copy of a descriptor of another process."""
    copied = ctypes.CDLL(None, use_errno=True).syscall(438, held, descriptor, 0)
    if copied < 0:
        if ctypes.get_errno() == errno.EPERM:
            pytest.skip("pidfd_getfd is not permitted here: copying a descriptor needs the right to trace the process")
        raise OSError(ctypes.get_errno(), "pidfd_getfd")
    return int(copied)


def test_a_client_whose_ring_is_overwritten_is_told_at_close(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=30", openmpi_case.gates(30))
    wait_for(lambda: list(openmpi_case.output.glob("tiny.n0000.*.h5")), what="a file")
    server = openmpi_case.server_process()
    log = openmpi_case.output / "server-n0000.log"

    def seen() -> bool:
        # Until it is there when the server looks: the client writes the same word with each of its events.
        damage(server, FIRST_RING, 1 << 40)
        return "is corrupt" in log.read_text()

    wait_for(seen, what="the server notices")
    openmpi_case.open_gate(30)
    outcome = finish(run)
    assert "took this client for dead" in outcome.text
    assert not outcome.ranks[0]["closed"]
    wait_for(lambda: is_gone(server), what="the server exits")
    assert openmpi_case.counts()["dead_clients"] == 1


def test_counts_that_are_overwritten_delay_nothing(openmpi_case: Case) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=30", openmpi_case.gates(4))
    wait_for(lambda: list(openmpi_case.output.glob("tiny.n0000.*.h5")), what="a file")
    damage(openmpi_case.server_process(), PAGES + Word.SPILLED_BLOCKS.value[0], 7)
    openmpi_case.open_gate(4)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    check_complete(openmpi_case, 30)


def test_a_dead_client_did_not_end_iterations_that_nobody_saw(openmpi_case: Case) -> None:
    openmpi_case.ranks = 1
    openmpi_case.configure()
    run = openmpi_case.start("iterations=1000", "pause_ms=300")
    wait_for(lambda: list(openmpi_case.output.glob("tiny.n0000.*.h5")), what="a file")
    server = openmpi_case.server_process()
    client = processes_of(run)[0]
    os.kill(client, signal.SIGSTOP)
    damage(server, PAGES + Word.ENDED_THROUGH.value[0], 1 << 40)
    os.kill(client, signal.SIGKILL)
    finish(run)
    wait_for(lambda: is_gone(server), what="the server exits")
    assert len(list(openmpi_case.output.glob("tiny.n0000.*.h5"))) < 1000


@pytest.fixture
def few_descriptors() -> Iterator[int]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, before[1]))
    yield before[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_server_takes_as_many_descriptors_as_it_may(openmpi_case: Case, few_descriptors: int) -> None:
    openmpi_case.configure()
    run = openmpi_case.start("iterations=30", openmpi_case.gates(4))
    wait_for(lambda: list(openmpi_case.output.glob("tiny.n0000.*.h5")), what="a file")
    limits = Path(f"/proc/{openmpi_case.server_process()}/limits").read_text()
    openmpi_case.open_gate(4)
    assert finish(run).status == 0
    allowed = next(line for line in limits.splitlines() if line.startswith("Max open files"))
    assert allowed.split()[3] == allowed.split()[4] == str(few_descriptors)


def socket_of(case: Case) -> str:
    """The address at which the server of a case listens."""
    session = (case.output / "server-n0000.log").read_text().split("session ")[1][:8]
    listed = Path("/proc/net/unix").read_text().splitlines()
    return next("\0" + line.split()[-1][1:] for line in listed if f"-{session}" in line)


def connection_of(process: int, case: Case) -> socket.socket:
    """A copy of the socket over which a client is connected to its server."""
    held = os.pidfd_open(process)
    try:
        for name in Path(f"/proc/{process}/fd").iterdir():
            if not str(name.readlink()).startswith("socket:"):
                continue
            copy = socket.socket(fileno=copy_descriptor(held, int(name.name)))
            if copy.family == socket.AF_UNIX and copy.getpeername() == socket_of(case).encode():
                return copy
            copy.close()
    finally:
        os.close(held)
    raise AssertionError("the client has no connection to its server")


def hello(client: int, purpose: int = 0) -> bytes:
    """src/offload/segment/protocol.hpp: magic, version, purpose (0: join), client."""
    return struct.pack("<4I", 0x48414C43, 1, purpose, client)


@contextmanager
def going_on_unharmed(case: Case) -> Iterator[Popen[str]]:
    """A run that has stored files; after this block it goes on, loses nobody and stores everything."""
    case.configure()
    run = case.start("iterations=60", case.gates(30))
    wait_for(lambda: list(case.output.glob("tiny.n0000.*.h5")), what="a file")
    yield run
    case.open_gate(30)
    outcome = finish(run)
    assert outcome.status == 0, outcome.text
    assert case.counts()["dead_clients"] == 0
    check_complete(case, 60)


def wait_for_log(case: Case, text: str) -> None:
    log = case.output / "server-n0000.log"
    wait_for(lambda: text in log.read_text(), what=f"the log says '{text}'")


def test_who_says_to_be_a_client_that_has_joined_is_refused(openmpi_case: Case) -> None:
    stranger = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with going_on_unharmed(openmpi_case), stranger as impostor:
        impostor.settimeout(10)
        impostor.connect(socket_of(openmpi_case))
        impostor.send(hello(client=1))
        answer, descriptors, _, _ = socket.recv_fds(impostor, 4096, 4)
        assert b"client 1 of this session has joined already" in answer
        assert not descriptors, "the segment was given away"
        assert impostor.recv(4096) == b"", "the connection is not closed"
        wait_for_log(openmpi_case, "client 1 of this session has joined already")


def test_a_client_cannot_become_another_one(openmpi_case: Case) -> None:
    with going_on_unharmed(openmpi_case) as run, connection_of(processes_of(run)[0], openmpi_case) as own:
        own.send(hello(client=1))
        own.send(hello(client=0))
        own.send(b"\xff" * 4000)
        wait_for_log(openmpi_case, "says hello again")


def test_strangers_at_the_socket_fill_neither_log_nor_descriptors(openmpi_case: Case) -> None:
    with ExitStack() as strangers, going_on_unharmed(openmpi_case):
        server = openmpi_case.server_process()
        name = socket_of(openmpi_case)
        for i in range(400):
            stranger = strangers.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            stranger.connect(name)
            if i % 2:
                stranger.send(b"\xff" * (i % 40 + 1))
        wait_for_log(openmpi_case, "ignored")
        wait_for(lambda: len(list(Path(f"/proc/{server}/fd").iterdir())) < 250, what="strangers are sent away")
    log = openmpi_case.output / "server-n0000.log"
    assert len(log.read_text().splitlines()) < 20
