"""Programs that take turns by themselves, and do what a test tells them."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from coordinator_process import LIMIT_S, wait_until

_PROGRAM = """
import ctypes, dataclasses, gc, json, os, signal, sys
from pathlib import Path
from halcyon.errors import HalcyonError
from halcyon.turns import Turns

def write(file, mib=0, until=""):
    with open(file, "wb", buffering=0) as to:
        while mib > 0 or (until and not Path(until).exists()):
            to.seek(0)
            to.write(bytes(1 << 20))
            mib -= 1

def in_child(call):
    child = os.fork()
    if child == 0:
        try:
            getattr(turns, call)()
        except HalcyonError as why:
            print(json.dumps({"error": type(why).__name__, "message": str(why)}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)

def own_in_child():
    child = os.fork()
    if child == 0:
        mine = Turns(sys.argv[1], sys.argv[2] or None)
        mine.inform()
        mine.wait()
        print(json.dumps({"value": [mine.status().stage, mine.status().coordination]}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)

def drop():
    global turns
    turns = None
    gc.collect()

def drop_in_child():
    child = os.fork()
    if child == 0:
        drop()
        print(json.dumps({"value": "dropped"}), flush=True)
        os._exit(0)
    os.waitpid(child, 0)

def in_phase(file, mib, **known):
    with turns.phase(**known):
        write(file, mib)

def handle(number, by_making):
    signal.signal(number, lambda *_: Path(by_making).touch())

def interruptible(call, **known):
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        print(json.dumps({"value": "begins"}), flush=True)
        (own.get(call) or getattr(turns, call))(**known)
    except KeyboardInterrupt:
        return "interrupted"
    return "done"

def become(user):
    os.setuid(user)

def show_itself():
    PR_SET_DUMPABLE = 4
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)

own = {one.__name__: one for one in (
    write, in_child, own_in_child, drop, drop_in_child, in_phase, handle, interruptible, become, show_itself
)}
try:
    turns = Turns(sys.argv[1], sys.argv[2] or None)
    print(json.dumps({"value": "ready"}), flush=True)
    for line in sys.stdin:
        name, known = json.loads(line)
        try:
            value = (own.get(name) or getattr(turns, name))(**known)
            if dataclasses.is_dataclass(value):
                value = dataclasses.asdict(value)
            if not name.endswith("in_child"):
                print(json.dumps({"value": value}), flush=True)
        except HalcyonError as why:
            print(json.dumps({"error": type(why).__name__, "message": str(why)}), flush=True)
except HalcyonError as why:
    print(json.dumps({"error": type(why).__name__, "message": str(why)}), flush=True)
"""

_NUMBERS = count()

PATIENCE_MS = 20000
"""Of programs where nobody is silent: this machine may be slow."""


class RefusedError(Exception):
    """What the program's call raised."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class Program:
    """A process with a Turns."""

    def __init__(
        self,
        path: Path | str,
        config: Path | None,
        job: str,
        *,
        job_of: "Program | None" = None,
        before: Sequence[str] = (),
        patience_ms: int = PATIENCE_MS,
        **environment: str,
    ) -> None:
        folder = Path(tempfile.mkdtemp(prefix="program-", dir=Path(path).parent))
        self.said = folder / "said"
        """What it and its launcher say on standard error."""
        variables = {name: value for name, value in os.environ.items() if not name.startswith("HALCYON_COORD")}
        variables |= {"HALCYON_COORDINATE_PATIENCE_MS": str(patience_ms)} | environment
        # Agents of other tests may be about to end.
        self.job = job_of.job if job_of else f"{job}-{os.getpid()}-{next(_NUMBERS)}"
        if not before:
            variables |= {"HALCYON_JOB": self.job, "HALCYON_JOB_SECRET": f"the secret of {job}, long enough"}
        command = [*before, sys.executable, "-c", _PROGRAM, str(path), str(config or "")]
        with self.said.open("w") as said:
            self.process = subprocess.Popen(
                command, env=variables, cwd=folder, text=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said,
            )  # fmt: skip
        self.ready = self.answer()

    def begin(self, call: str, /, **known: object) -> None:
        """Its answer() may take its time."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([call, known]) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """Of the call that was begun."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"the program of {self.job} ended with {self.process.wait(LIMIT_S)}: {self.said.read_text()}"
        found = json.loads(line)
        if "error" in found:
            raise RefusedError(found["error"], found["message"])
        return found["value"]

    @property
    def has_answered(self) -> bool:
        return bool(select.select([self.process.stdout], [], [], 0)[0])

    def do(self, call: str, /, **known: object) -> Any:
        self.begin(call, **known)
        return self.answer()

    @property
    def status(self) -> dict[str, Any]:
        found = self.do("status")
        assert isinstance(found, dict)
        return found

    def begin_to_wait(self, call: str, /, **known: object) -> None:
        """As begin(); Ctrl-C ends the call. It sleeps by now."""
        self.begin("interruptible", call=call, **known)
        assert self.answer() == "begins"
        wait_until(lambda: self.has_answered or self.sleeps, f"{self.job} sleeps")

    @property
    def sleeps(self) -> bool:
        state = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2]
        return state.startswith("S")

    def hold(self) -> None:
        """The turn."""
        self.do("inform")
        self.do("wait")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(LIMIT_S)

    def end(self) -> str:
        """What it said on standard error."""
        self.process.communicate(timeout=LIMIT_S)
        return self.said.read_text()


@contextmanager
def ended(programs: list[Program]) -> Iterator[None]:
    """Programs do not outlive the test."""
    try:
        yield
    finally:
        for one in programs:
            if one.process.poll() is None:
                one.process.kill()
            one.process.communicate()
