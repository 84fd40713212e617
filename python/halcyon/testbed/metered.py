"""Programs on a test bed, run as they are, while the links of their hosts are counted."""

import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from typing import IO

from halcyon.errors import HalcyonSystemError
from halcyon.testbed.applications import LIMIT_S, end_process
from halcyon.testbed.bed import Bed
from halcyon.testbed.links import Counted, count

_LOOK_S = 0.02
"""Between two looks at the links: times are as exact as that."""
_EDGE = 0.005
"""Share of a program's bytes before and after the time in which it moves data: mounts say something while idle, too."""
_LEAST_BYTES = 1 << 20
"""Of a program that moves data at all."""
_LAST_WORDS = 500
"""Characters of a failed command's output that an error quotes."""


@dataclass(frozen=True)
class Program:
    """A command, started on each of its hosts at once."""

    name: str
    hosts: tuple[str, ...]
    command: tuple[str, ...]


@dataclass(frozen=True)
class Run:
    """One run of a program; times in seconds since the start of all that ran at once."""

    seconds: float
    """Until the last of its processes ended."""
    looks_s: list[float]
    sent_bytes: list[int]
    """By its hosts up to each look."""
    moving_from_s: float
    """From here to `moving_until_s` it moved its data; not counted are starting and ending."""
    moving_until_s: float

    @property
    def moving_s(self) -> float:
        return self.moving_until_s - self.moving_from_s


@dataclass(frozen=True)
class Scene:
    """Programs that ran at once, and the links' counts at every look."""

    runs: list[Run]
    zero_s: float
    looks: list[Counted]

    def look_at(self, time_s: float) -> Counted:
        """The first look that is not before this time since the start."""
        return next((look for look in self.looks if look.time_s - self.zero_s >= time_s), self.looks[-1])


def run_metered(bed: Bed, programs: Sequence[Program]) -> Scene:
    """Starts all at once, and waits for their ends. HalcyonSystemError: a command failed, moved no data over the links
    of its hosts, or did not end."""
    with ExitStack() as stack:
        output = {
            program.name: stack.enter_context(tempfile.TemporaryFile("w+", errors="replace")) for program in programs
        }
        zero_s = time.monotonic()
        looks = [count(bed)]
        running = {program.name: _start(bed, program, output[program.name], stack) for program in programs}
        ends_s: dict[str, float] = {}
        while len(ends_s) < len(programs):
            time.sleep(_LOOK_S)
            looks.append(count(bed))
            for name, processes in running.items():
                if name not in ends_s and all(process.poll() is not None for process in processes):
                    ends_s[name] = looks[-1].time_s - zero_s
            if looks[-1].time_s - zero_s > LIMIT_S:
                raise HalcyonSystemError(f"the commands have not ended after {LIMIT_S:g} s")
        for program in programs:
            _require_success(program, running[program.name], output[program.name])
    return Scene([_run_of(program, looks, zero_s, ends_s[program.name]) for program in programs], zero_s, looks)


def _start(bed: Bed, program: Program, output: IO[str], stack: ExitStack) -> list["subprocess.Popen[str]"]:
    started = []
    for host in program.hosts:
        process = bed.popen(host, program.command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                            start_new_session=True)  # fmt: skip
        stack.callback(end_process, process)
        started.append(process)
    return started


def _require_success(program: Program, processes: Sequence["subprocess.Popen[str]"], output: IO[str]) -> None:
    for host, process in zip(program.hosts, processes, strict=True):
        if process.returncode:
            output.seek(0)
            said = " ".join(output.read().split())[-_LAST_WORDS:]
            raise HalcyonSystemError(
                f"{program.name} failed on {host} with exit status {process.returncode}: {said or 'it said nothing'}"
            )


def _run_of(program: Program, looks: Sequence[Counted], zero_s: float, end_s: float) -> Run:
    times_s = [look.time_s - zero_s for look in looks]
    sent = [sum(look.from_host[host] for host in set(program.hosts)) for look in looks]
    sent = [now - sent[0] for now in sent]
    if sent[-1] < _LEAST_BYTES:
        raise HalcyonSystemError(
            f"{program.name} sent {sent[-1]:,} bytes: it wrote nothing to the test bed's file system, whose folders "
            "are in $TESTBED_MOUNTS"
        )
    first = next(i for i, (_, now) in enumerate(pairwise(sent)) if now > _EDGE * sent[-1])
    last = next(i for i, now in enumerate(sent) if now >= (1 - _EDGE) * sent[-1])
    return Run(end_s, times_s, sent, times_s[first], times_s[last])
