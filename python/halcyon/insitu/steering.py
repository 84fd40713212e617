"""Steering: new values of steerable parameters for a simulation that runs, through the server of its node 0.

    with Steering(Path("out")) as steering:
        for parameter in steering.parameters():
            print(parameter.name, parameter.value)
        request = steering.ask({"kappa": 0.3})
        for effect in steering.wait(request, ["kappa"]):
            print(effect.parameter, "is", effect.value, "from iteration", effect.iteration, "on")

Messages are JSON objects on a socket of the server, which talks to processes of its own user on its own host alone.
"""

import json
import os
import socket
import struct
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from halcyon.errors import BY_CODE, HalcyonError, HalcyonSystemError, UnavailableError, UsageError
from halcyon.offload.run_files import read_manifest, read_object

_WRITER = "n0000"  # rank 0 is a client of this server
_HELLO = struct.pack("=4I", 0x48414C43, 1, 3, 0)  # as in src/offload/segment/protocol.hpp
_LONGEST_MESSAGE = 1 << 18
_PATIENCE_S = 10.0
_KINDS: dict[str, type[HalcyonError]] = {
    name: BY_CODE[code] for code, name in enumerate(("config", "usage", "system", "unavailable", "internal"), start=1)
}


@dataclass(frozen=True)
class Steerable:
    """A parameter as the simulation has it now. `asked`: its value from the next iteration on; None: the same."""

    name: str
    value: float
    minimum: float
    maximum: float
    asked: float | None = None


@dataclass(frozen=True)
class Effect:
    """A request that took effect: `parameter` is `value` from `iteration` on, on all ranks."""

    request: int
    parameter: str
    value: float
    iteration: int


class Steering:
    """A connection to the server through which a run is steered. `run`: the run's directory, or its run.json.

    Raises:
        UsageError: there is no run, it has no steerable parameter, or it is another user's.
        UnavailableError: the run has ended, its server is on another host, or does not answer.
    """

    def __init__(self, run: Path) -> None:
        self._effects: list[Effect] = []
        self._directory = run.parent if run.name == "run.json" else run
        self._socket = _connect(self._directory)
        try:
            self._socket.sendall(_HELLO)
            self._first = self._answer()
        except OSError as why:
            self.close()
            raise self._lost() from why
        except HalcyonError:
            self.close()
            raise

    def parameters(self) -> list[Steerable]:
        """All steerable parameters, in the order of the configuration."""
        return [_steerable(item) for item in self._ask({})["parameters"]]

    def ask(self, values: Mapping[str, float]) -> int:
        """Asks for new values, which take effect together when the iteration ends; returns the number of the request.

        Raises:
            UsageError: a name is none of a steerable parameter, or a value is outside its bounds; none is accepted.
            UnavailableError: the simulation has closed its session; the server has ended.
        """
        return int(self._ask({"set": dict(values)})["accepted"])

    def wait(self, request: int, names: Iterable[str]) -> list[Effect]:
        """Waits until a request for `names` has taken effect, or one that came later for the same parameter.

        Raises:
            UnavailableError: the server has ended. What it accepted takes effect all the same.
        """
        found: dict[str, Effect] = {}
        wanted = set(names)
        while wanted - found.keys():
            while self._effects:
                effect = self._effects.pop(0)
                if effect.request >= request and effect.parameter in wanted:
                    found.setdefault(effect.parameter, effect)
            if wanted - found.keys():
                self._keep(self._receive(None))
        return [found[name] for name in sorted(wanted)]

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, message: Mapping[str, Any]) -> dict[str, Any]:
        try:
            self._socket.sendall(json.dumps(message).encode())
        except OSError as why:
            raise self._lost() from why
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        while self._keep(message := self._receive(_PATIENCE_S)):
            pass
        if "error" in message:
            raise _KINDS.get(message["error"], UnavailableError)(message["message"])
        return message

    def _keep(self, message: dict[str, Any]) -> bool:
        """Whether it is no answer but tells of an effect, which is kept."""
        if "iteration" not in message:
            return False
        self._effects.append(Effect(**message))
        return True

    def _receive(self, patience_s: float | None) -> dict[str, Any]:
        self._socket.settimeout(patience_s)
        try:
            data = self._socket.recv(_LONGEST_MESSAGE)
        except TimeoutError as why:
            raise UnavailableError(
                f"{self._directory}: the server of node 0 did not answer within {patience_s:g} s; its log, "
                f"server-{_WRITER}.log, may say why"
            ) from why
        except OSError as why:
            raise self._lost() from why
        if not data:
            raise self._lost()
        message: dict[str, Any] = json.loads(data)
        return message

    def _lost(self) -> UnavailableError:
        return UnavailableError(
            f"{self._directory}: the server of node 0 closed the connection; its log, server-{_WRITER}.log, says why"
        )


def _steerable(item: Mapping[str, Any]) -> Steerable:
    return Steerable(item["name"], item["value"], item["min"], item["max"], item.get("asked"))


def _connect(directory: Path) -> socket.socket:
    path = directory / f"socket-{_WRITER}.json"
    if not path.is_file():
        raise _not_steerable(directory)
    found = read_object(path)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(_PATIENCE_S)
        connection.connect(f"\0{found['socket']}")
        _, owner, _ = struct.unpack("=3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        if owner != os.geteuid():
            raise UsageError(f"{directory}: the run belongs to user {owner}; that user alone can steer it")
    except ConnectionRefusedError as why:
        connection.close()
        raise UnavailableError(f"{directory}: {_nobody_listens(directory, str(found['host']))}") from why
    except OSError as why:
        connection.close()
        raise HalcyonSystemError.of(why, path) from why
    except HalcyonError:
        connection.close()
        raise
    return connection


def _nobody_listens(directory: Path, host: str) -> str:
    here = socket.gethostname()
    if _has_ended(directory):
        return "the run has ended"
    if host != here:
        return f"the server of node 0 runs on host {host}, and this is {here}; steer the run from there"
    return (
        "no server of node 0 listens any more; it was killed, and a run that goes on takes another one when it next "
        "needs it; or this is another network namespace (container)"
    )


def _has_ended(directory: Path) -> bool:
    with suppress(HalcyonError):
        return bool(read_manifest(directory / "run.json").ended_ns)
    return False


def _not_steerable(directory: Path) -> HalcyonError:
    if not (directory / "run.json").is_file():
        return UsageError(f"{directory}: no run.json here; expected the directory of a run's output")
    manifest = read_manifest(directory / "run.json")
    if manifest.ended_ns:
        return UnavailableError(f"{directory}: the run has ended")
    if manifest.approach != "halcyon":
        return UsageError(f"{directory}: approach {manifest.approach} has no server, and so nobody can steer it")
    return UsageError(
        f"{directory}: nobody can steer this run: no parameter of its configuration has 'steerable: true', or its "
        "server is about to end"
    )
