"""A connection to a coordinator: a JSON object a line, both ways."""

import json
import os
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self

from halcyon.compiled import core
from halcyon.coordinate.address import Address
from halcyon.errors import UnavailableError, UsageError

Message = dict[str, Any]

_CHALLENGE = "halcyon 1 munge "
_INSECURE = "halcyon 1 insecure"
_REFUSAL = "refused: "


class Connection:
    """Blocks, each step for `timeout_s` at most. `user`: of the daemon, who is believed at a Unix address besides those
    whom every client believes. UnavailableError: nobody listens or answers there, or somebody who is not believed."""

    def __init__(self, address: Address, timeout_s: float = 5, munge_socket: str = "", user: int | None = None) -> None:
        self._address = address
        self._lines = b""
        try:
            self._socket = _connected(address, timeout_s)
        except OSError as why:
            raise UnavailableError(f"no coordinator at {address}: {why.strerror or why}") from why
        self._socket.settimeout(timeout_s)
        if address.port is None:
            self._believe(user)
        else:
            self._prove(munge_socket)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._socket.close()

    def fileno(self) -> int:
        """For select()."""
        return self._socket.fileno()

    def send(self, message: Mapping[str, object]) -> None:
        self.send_line(json.dumps(message, ensure_ascii=False))

    def send_line(self, line: str) -> None:
        try:
            self._socket.sendall(line.encode() + b"\n")
        except OSError as why:
            raise UnavailableError(f"{self._address}: {why.strerror or why}") from why

    def receive(self) -> Message:
        """The next message."""
        message = json.loads(self.receive_line())
        assert isinstance(message, dict)
        return message

    @property
    def has_line(self) -> bool:
        """Whether a message was received already, so that receive() does not wait."""
        return b"\n" in self._lines

    def receive_line(self) -> str:
        while not self.has_line:
            try:
                some = self._socket.recv(1 << 16)
            except TimeoutError as why:
                raise UnavailableError(f"{self._address}: the coordinator does not answer") from why
            except OSError as why:
                raise UnavailableError(f"{self._address}: {why.strerror or why}") from why
            if not some:
                raise UnavailableError(f"{self._address}: the coordinator closed the connection")
            self._lines += some
        line, self._lines = self._lines.split(b"\n", 1)
        return line.decode()

    def ask(self, question: Mapping[str, object]) -> list[Message]:
        """All messages of an answer that `end` ends. UsageError: the coordinator refuses."""
        self.send(question)
        answer = []
        while (message := self.receive())["type"] != "end":
            if message["type"] in ("refused", "error"):
                raise UsageError(f"{self._address}: the coordinator refuses: {message['reason']}")
            answer.append(message)
        return answer

    def _believe(self, user: int | None) -> None:
        """Whoever listens at a Unix address, as agents do."""
        try:
            core().check_listener(self.fileno(), str(self._address), user)
        except UsageError as why:
            self.close()
            raise UnavailableError(f"no coordinator at {self._address}: {why}") from why

    def _prove(self, munge_socket: str) -> None:
        """Shows over TCP whose connection this is."""
        challenge = self.receive_line()
        if challenge.startswith(_REFUSAL):
            raise UnavailableError(f"{self._address}: the coordinator answers: {challenge}")
        if challenge == _INSECURE:
            answer = f"claim {os.geteuid()} {os.getegid()} {os.getpid()}"
        elif challenge.startswith(_CHALLENGE):
            ends = (_end(self._socket.getpeername()), _end(self._socket.getsockname()))
            nonce = challenge.removeprefix(_CHALLENGE)
            payload = "\n".join(("halcyon line socket 1", nonce, *ends, ""))
            answer = _credential(payload, munge_socket, self._socket.gettimeout())
        else:
            raise UnavailableError(f"{self._address} is no coordinator: its first line is {challenge[:80]!r}")
        self.send_line(answer)
        if (welcome := self.receive_line()) != "welcome":
            raise UsageError(f"{self._address}: the coordinator answers: {welcome}")


def connect_to_any(
    addresses: Sequence[Address], munge_socket: str = "", timeout_s: float = 5, user: int | None = None
) -> Connection:
    """To the daemon that leads. UnavailableError: none answers or is believed, or all stand by. UsageError: it
    refuses."""
    why = []
    for address in addresses:
        try:
            made = Connection(address, timeout_s, munge_socket, user)
            if len(addresses) > 1:
                made.ask({"type": "top"})
        except UnavailableError as failed:
            why.append(str(failed))
        except UsageError as refused:
            if "this daemon stands by" not in str(refused):
                raise
            why.append(str(refused))
        else:
            return made
    raise UnavailableError("; ".join(why))


def _connected(address: Address, timeout_s: float) -> socket.socket:
    if address.port is not None:
        return socket.create_connection((address.name, address.port), timeout_s)
    name = "\0" + address.name[1:] if address.name.startswith("@") else address.name
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    limit = time.monotonic() + timeout_s
    try:
        made.settimeout(timeout_s)
        while True:
            try:
                made.connect(name)
                return made
            except BlockingIOError:  # too many wait to be accepted
                if time.monotonic() > limit:
                    raise
                time.sleep(0.01)
    except OSError:
        made.close()
        raise


def _end(name: tuple[Any, ...]) -> str:
    """As both ends see it: an IPv4 address within IPv6 is the IPv4 address."""
    host = str(name[0]).partition("%")[0].removeprefix("::ffff:")
    return f"[{host}]:{name[1]}" if ":" in host else f"{host}:{name[1]}"


def _credential(payload: str, munge_socket: str, timeout_s: float | None) -> str:
    command = ["munge", *(["--socket", munge_socket] if munge_socket else [])]
    try:
        done = subprocess.run(command, input=payload, capture_output=True, text=True, check=False, timeout=timeout_s)
    except subprocess.TimeoutExpired as why:
        raise UnavailableError(
            f"the coordinator asks for MUNGE, and munged does not answer within {timeout_s} s"
        ) from why
    except OSError as why:
        raise UnavailableError(f"the coordinator asks for MUNGE, and the command munge cannot be run: {why}") from why
    if done.returncode:
        raise UnavailableError(f"the coordinator asks for MUNGE: {done.stderr.strip()}")
    return done.stdout.strip()
