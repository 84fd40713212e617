"""Taking turns at a file system with other jobs: the program says when it is about to do I/O, and waits for its turn.

    with Turns("/scratch/run") as turns:
        for step in range(steps):
            ...
            with turns.phase(nbytes=field.nbytes):
                np.save(f"/scratch/run/{step}.npy", field)

Calls raise the errors of halcyon.errors: each lists its own. Any call on one that is finalized, or was made by the
process that this one was forked off, raises UsageError. halcyon/io.h says how long each call blocks, and what happens
without a coordinator: then nothing waits. One thread at a time uses a `Turns`.
"""

import operator
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, Self

from halcyon.compiled import load_compiled
from halcyon.errors import UsageError

Access = Literal["write", "read", "metadata"]
Coordination = Literal["coordinated", "silent", "uncoordinated"]
Stage = Literal["idle", "asking", "holding"]
_ACCESSES: tuple[Access, ...] = ("write", "read", "metadata")
_COORDINATIONS: tuple[Coordination, ...] = ("coordinated", "silent", "uncoordinated")
_STAGES: tuple[Stage, ...] = ("idle", "asking", "holding")


@dataclass(frozen=True)
class Status:
    """How things are at the file system; io.h describes each member. None: not known."""

    coordination: Coordination
    stage: Stage
    our_turn: bool
    others_move: bool
    expected_wait_s: float | None
    load: int | None
    waited_s: float
    bytes: int
    bytes_unasked: int
    steps_unasked: int
    steps_starving: int
    holders: tuple[str, ...]
    reason: str


class Turns:
    """The turns of this process at the file system that `path` lies on.

    `config` is a coordinators.yaml. Without it: under `halcyon run --coordinate`, the coordinators of that command;
    else the file that the variable HALCYON_COORDINATORS_FILE names; else /etc/halcyon/coordinators.yaml.
    As a context manager it is finalized at the end of the block: so should turns be taken. One that nobody can reach
    any more is finalized when Python collects it, which may be late; the end of the process gives its turn back, too.

    Raises:
        ConfigError: the file that was named is wrong; file, line and key path are in the message.
        UsageError: `path` is empty.
        HalcyonSystemError: the file that was named cannot be read.
    """

    def __init__(self, path: str | os.PathLike[str], config: str | os.PathLike[str] | None = None) -> None:
        named = None if config is None else os.fspath(config)
        self._turns = load_compiled("_turns").Turns(os.fspath(path), named)

    def prepare(
        self,
        *,
        nbytes: int = 0,
        files: int = 0,
        access: Access = "write",
        alone_s: float = 0,
        period_s: float = 0,
        targets: Iterable[int] = (),
    ) -> None:
        """Adds what is known of the accesses to come, of this process: io.h's `bytes` and so on; 0: not known.

        `targets` are the storage targets that it will use; none: not known, it may use all of them. So counts a process
        with more than 160 different ones, of which a warning tells.

        Raises:
            UsageError: a number is negative or not finite, there is no such kind of access, a target is no number from
                0 to 4294967295, or there are too many levels.
        """
        if access not in _ACCESSES:
            raise UsageError(f"access is {access!r}; expected one of {', '.join(_ACCESSES)}")
        listed = {operator.index(one) for one in targets}
        for one in listed:
            if not 0 <= one < 1 << 32:
                raise UsageError(f"a storage target is {one}; expected a number from 0 to {(1 << 32) - 1}")
        if len(listed) > load_compiled("_turns").MAX_TARGETS:
            # Where warnings are errors, nothing is prepared.
            warnings.warn(
                f"{len(listed)} storage targets are more than are told of a process: it counts as using all of them",
                stacklevel=2,
            )
        self._turns.prepare(nbytes, files, _ACCESSES.index(access), alone_s, period_s, sorted(listed))

    def complete(self) -> None:
        """Takes away what was prepared last.

        Raises:
            UsageError: nothing is prepared.
        """
        self._turns.complete()

    def inform(self) -> None:
        """A phase begins, or what is known of it has changed: tells what is prepared.

        Raises:
            UsageError: this was finalized.
        """
        self._turns.inform()

    def check(self) -> bool:
        """Whether it is our turn, which is then held; while it is held, whether it still is.

        Raises:
            UsageError: no phase was announced.
        """
        return bool(self._turns.check())

    def wait(self) -> None:
        """Waits for our turn; while it is held, gives way if others are to have it.

        Handlers of signals run meanwhile, in the main thread; they cannot use this object. An exception that one of
        them raises, such as KeyboardInterrupt, ends the wait: this process holds no turn then, and asks for none until
        the next wait(), check() or inform(). The phase lasts until release().

        Raises:
            UsageError: no phase was announced.
        """
        self._turns.wait()

    def join(self) -> None:
        """Holds a turn that another process of this job waited for and holds. Handlers of signals run as in wait().

        Raises:
            UsageError: no phase was announced, or the turn is held already.
        """
        self._turns.join()

    def release(self) -> None:
        """The phase is over: gives the turn back, or asks for it no more.

        Raises:
            UsageError: no phase was announced.
        """
        self._turns.release()

    def status(self) -> Status:
        """Who has the turn, and how long it may take until it is ours.

        Raises:
            UsageError: this was finalized.
        """
        of: dict[str, Any] = self._turns.status()
        wait_s = of.pop("expected_wait_s")
        return Status(
            coordination=_COORDINATIONS[of.pop("coordination")],
            stage=_STAGES[of.pop("stage")],
            expected_wait_s=None if wait_s < 0 else wait_s,
            load=of.pop("load") or None,
            holders=tuple(of.pop("holders").decode(errors="replace").split()),
            reason=of.pop("reason").decode(errors="replace"),
            **of,
        )

    @contextmanager
    def phase(
        self,
        comm: Any = None,
        *,
        nbytes: int = 0,
        files: int = 0,
        access: Access = "write",
        alone_s: float = 0,
        period_s: float = 0,
        targets: Iterable[int] = (),
    ) -> Iterator[Self]:
        """A phase of I/O: prepares, informs and waits; releases and completes at the end of the block.

        With `comm`, a communicator of mpi4py, the block is collective I/O: the first rank waits, all others join its
        turn, and it gives the turn back when all others have given back theirs. An exception that leaves the block on
        one of several ranks leaves the others waiting for it, as in any collective call.

        Raises:
            UsageError: as of prepare; a phase was announced already.
        """
        if (stage := self.status().stage) != "idle":
            raise UsageError(f"a phase begins while another one is {stage}: release that one first")
        joins = comm is not None and comm.Get_rank() != 0
        self.prepare(nbytes=nbytes, files=files, access=access, alone_s=alone_s, period_s=period_s, targets=targets)
        try:
            self.inform()
            if not joins:
                self.wait()
            if comm is not None:
                comm.Barrier()
            if joins:
                self.join()
            yield self
            if joins:
                self._release_once()
            if comm is not None:
                comm.Barrier()  # the rank that waited comes last
        finally:
            self._release_once()
            self.complete()

    def _release_once(self) -> None:
        if self.status().stage != "idle":
            self.release()

    def finalize(self) -> None:
        """Gives back what is held.

        Raises:
            UsageError: this was finalized already.
        """
        self._turns.finalize()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.finalize()
