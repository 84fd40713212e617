"""Two real programs that take turns, while their daemon fails at a message of a test's choice.

A writes until it is told to end, B comes while A moves and writes a few blocks. Their agents speak with the daemon
through a socket that overhears them: so the fault comes just before a certain message arrives, and each turn that
either of them had is known.
"""

import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from coordinated_run import impatient_agent, said_by
from coordinator_process import CoordinatorProcess, wait_until
from overheard import Heard, Message, Overheard
from started_programs import start_program
from turn_audit import check_that_no_turn_was_given_twice

from halcyon.process_session import end_session

BLOCK = 1 << 18
REGIONS = 8
B_BLOCKS = 8
TIMES = {"heartbeat": "50 ms", "stalled": "60 s", "stop": "60 s"}
"""Nobody loses a turn while its agent believes in it, however slow this machine is."""
PATIENT_MS = 20000
IMPATIENT_MS = 2000
LONG_PAUSE_MS = 3000
"""Of A, which may lose its core for some time as B comes. Longer than an agent outlives its program: behind A's end,
its agent withdraws."""
PAUSE_MS = 100
_NUMBERS = count()

# A line for each block: from when to when it was written, and whether in turn.
_PROGRAM = f"""
import os, sys, time
from halcyon.turns import Turns
file, log, least, until = sys.argv[1:]
fd = os.open(file, os.O_CREAT | os.O_WRONLY)
turns, done = Turns(file), 0
with open(log, "w", buffering=1) as to:
    while done < int(least) or (until and not os.path.exists(until)):
        before = turns.status().bytes
        began = time.monotonic()
        os.pwrite(fd, bytes([done % 251]) * {BLOCK}, done % {REGIONS} * {BLOCK})
        ended = time.monotonic()
        to.write(f"{{began}} {{ended}} {{int(turns.status().bytes > before)}}\\n")
        done += 1
"""


@dataclass(frozen=True)
class Step:
    """The first message of this kind that the agent of this program says or hears. `policy`: of the daemon."""

    policy: str
    program: str
    kind: str

    def __str__(self) -> str:
        return f"{self.policy}-{self.kind}-{self.program}"


STEPS = [
    *(
        Step("interrupt", *each.split())
        for each in (
            "A register", "A registered", "A inform", "A grant", "A progress",
            "B register", "B inform", "B wait", "A recall", "A stopping", "A stop", "A stopped",
            "B grant", "A wait", "B release", "B withdraw",
        )
    ),
    *(
        Step("fcfs", *each.split())
        for each in ("B inform", "B wait", "A release", "B grant", "B release")
    ),
]  # fmt: skip
"""Of both exchanges of Dorier 2014, figure 6.8."""


class NotReachedError(AssertionError):
    """The fault did not come, or behind it nobody was left to whom it could matter. Up to there, all
    promises were kept."""


@dataclass(frozen=True)
class Written:
    """A block. The times are before and behind the call, which may have waited, or come back late."""

    since_s: float
    until_s: float
    in_turn: bool


class Program:
    """One of the two, under `halcyon run --coordinate`."""

    def __init__(
        self, name: str, folder: Path, address: str, agent: dict[str, str], pause_ms: int, until: Path | None
    ) -> None:
        self.name = name
        self.is_killed = False
        self.job = f"{name}-{os.getpid()}-{next(_NUMBERS)}"  # agents of other tests may be about to end
        self.file = folder / name
        self._log = folder.parent / f"log-{name}"
        halcyon = [sys.executable, "-m", "halcyon", "run", "--coordinate", "--no-predict"]
        command = [sys.executable, "-c", _PROGRAM, self.file, self._log, str(B_BLOCKS), str(until or "")]
        variables = {
            "HALCYON_COORDINATE_PATIENCE_MS": str(PATIENT_MS),
            "HALCYON_COORDINATE_PAUSE_MS": str(pause_ms),
            "HALCYON_JOB": self.job,
            "HALCYON_JOB_SECRET": f"the-secret-of-{name}-long-enough",
        }
        self.process = start_program(
            [*halcyon, "--coordinator", f"{folder}={address}", "--", *command], cwd=folder.parent,
            env=os.environ | variables | agent,
        )  # fmt: skip

    @property
    def written(self) -> list[Written]:
        if not self._log.exists():
            return []
        *lines, _ = self._log.read_text().split("\n")
        blocks = map(str.split, lines)
        return [Written(float(since_s), float(until_s), in_turn == "1") for since_s, until_s, in_turn in blocks]

    def has_written(self, in_turn: bool, after_s: float = 0) -> bool:
        assert self.is_killed or self.process.poll() in (None, 0), self.process.communicate()[0]
        return any(one.in_turn == in_turn and one.until_s > after_s for one in self.written)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def kill(self) -> None:
        """All of its processes at once, if there are any left; its agent is none of them."""
        self.is_killed = True
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)

    def end(self) -> str:
        """What it said. It has lost nothing."""
        said = said_by(self.process)
        number = len(self.written)
        last = [max(i for i in range(number) if i % REGIONS == region) for region in range(REGIONS)]
        assert self.file.read_bytes() == b"".join(bytes([i % 251]) * BLOCK for i in last)
        return said


class Exchange:
    """Both programs, beside `daemons`. When the message of `step` is about to be passed on, `strikes` begin: the first
    one is called then, each further one at the next message of the same kind."""

    def __init__(
        self,
        daemons: Sequence[CoordinatorProcess],
        folder: Path,
        step: Step,
        strikes: Sequence[Callable[[], None]],
        patience_ms: int,
    ) -> None:
        self.step = step
        self.folder = folder
        self.struck = threading.Event()
        """All strikes have come."""
        self.programs: list[Program] = []
        self._strikes = list(strikes)
        self._one_at_a_time = threading.Lock()
        self._scripts = tempfile.TemporaryDirectory(prefix="agent-")  # `folder` may lie where no script may run
        self._agent = impatient_agent(Path(self._scripts.name), patience_ms)
        self._done = folder.parent / "done"
        self._ways = [Overheard(of.folder / "between", of.socket, self._before) for of in daemons]

    def _before(self, job: str, message: Message) -> None:
        with self._one_at_a_time:
            if job.startswith(self.step.program) and message["type"] == self.step.kind and self._strikes:
                self._strikes.pop(0)()
                if not self._strikes:
                    self.struck.set()

    def run_into_fault(self) -> None:
        a = self._begin("A", self._done)
        wait_until(lambda: self.struck.is_set() or a.has_written(in_turn=True), "A moves")
        b = self._begin("B", None)
        if self.step.policy == "fcfs" and self.step.kind not in ("inform", "wait"):
            wait_until(lambda: self.struck.is_set() or self._has_heard(b, "wait"), "B waits")
            self._done.touch()
        with suppress(AssertionError):  # A writes until it is told to end
            wait_until(lambda: self.struck.is_set() or (a.has_ended() and b.has_ended()), "the fault strikes")
        if not self.struck.is_set():
            self.end()
            raise NotReachedError(f"no such message: {self.step}")

    def kill_program(self) -> None:
        """That of the step."""
        next(one for one in self.programs if one.name == self.step.program).kill()

    def goes_on_without_it(self) -> None:
        self._done.touch()
        others = [one for one in self.programs if not one.is_killed]
        wait_until(lambda: all(one.has_ended() for one in others), "the other program comes to its end")

    def goes_on_unasked(self) -> None:
        some = lambda: any(one.has_written(in_turn=False) for one in self.programs)  # noqa: E731
        nobody_is_left = lambda: all(one.has_ended() for one in self.programs)  # noqa: E731
        wait_until(lambda: nobody_is_left() or some(), "one of them goes on though nobody answers")
        if not some():
            self.end()
            raise NotReachedError("both had ended their I/O")

    def takes_turns_again(self) -> None:
        """First A, unless it has ended, then B: a lease that is shown to a new coordinator comes before all others."""
        now_s = time.monotonic()
        a, b = self.programs
        wait_until(lambda: a.has_ended() or a.has_written(in_turn=True, after_s=now_s), "A has turns again")
        self._done.touch()
        wait_until(b.has_ended, "B comes to its end")

    def _begin(self, name: str, until: Path | None) -> Program:
        address = ",".join(f"unix:{way.path}" for way in self._ways)
        ends_its_phase = name == "B" or self.step == Step(self.step.policy, "A", "release")
        pause_ms = PAUSE_MS if ends_its_phase else LONG_PAUSE_MS
        self.programs.append(Program(name, self.folder, address, self._agent, pause_ms, until))
        return self.programs[-1]

    def _messages(self) -> list[Heard]:
        return [one for way in self._ways for one in list(way.all)]

    def _has_heard(self, program: Program, kind: str) -> bool:
        return any(one.kind == kind and not one.of_agent and one.job == program.job for one in self._messages())

    def end(self) -> str:
        """What the programs said that were not killed. They have ended well, and no two had the turn, nor moved in that
        of the other."""
        self._done.touch()
        said = "".join(one.end() for one in self.programs if not one.is_killed)
        spans = check_that_no_turn_was_given_twice(self._messages())
        for program in self.programs:
            others = [span for span in spans if span.job != program.job]
            for block in program.written:
                beside = [one for one in others if one.since < block.since_s and block.until_s < one.until]
                assert not (block.in_turn and beside), f"{program.name} moved under its lease: {block}, {beside}"
        return said

    def close(self) -> None:
        for way in self._ways:
            way.close()
        for one in self.programs:
            end_session(one.process, patience_s=1)
        self._scripts.cleanup()
