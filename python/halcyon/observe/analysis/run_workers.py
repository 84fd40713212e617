"""Loads runs in processes of their own: several at once, and one that a damaged run kills takes nobody with it.

Not multiprocessing: it would start the program anew that calls this, whatever that does when it is started.
"""

import os
import pickle
import queue
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import BY_CODE, ConfigError, HalcyonError, HalcyonSystemError
from halcyon.observe.analysis.run_load import RunLoad, load_run
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.isolation import how_it_ended


@dataclass(frozen=True)
class Failure:
    """A worker's answer in place of a run: an error by its code."""

    code: int
    message: str


class Worker:
    """One process, which loads one run after the other."""

    def __init__(self) -> None:
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        self._child = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
        )

    @property
    def alive(self) -> bool:
        """Whether it can load another run."""
        return self._child.poll() is None

    def load(self, path: Path, name: str, settings: Settings | None, keep: bool) -> RunLoad:
        """As load_run. ConfigError also when the process dies of this run."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump((path, name, settings, keep), self._child.stdin)
            self._child.stdin.flush()
            answer: RunLoad | Failure = pickle.load(self._child.stdout)
        except Exception as why:  # pickle raises whatever half an answer makes of it
            self.close()
            ended = how_it_ended(self._child.returncode)
            raise ConfigError(f"{path}: the process that read it {ended}: damaged") from why
        if isinstance(answer, Failure):
            raise BY_CODE[answer.code](answer.message)
        return answer

    def close(self) -> None:
        """Ends the process."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._child.kill()
        self._child.wait()
        self._child.stdout.close()
        with suppress(BrokenPipeError):  # it died with a request in its pipe
            self._child.stdin.close()


class Workers:
    """Several processes; each run goes to one that is idle."""

    def __init__(self, count: int) -> None:
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for _number in range(count):
            self._idle.put(Worker())
        self._threads = ThreadPoolExecutor(count)
        self._count = count

    def submit(self, path: Path, name: str, settings: Settings | None, keep: bool) -> Future[RunLoad]:
        """The run, or its error, when it is there."""
        return self._threads.submit(self._load, path, name, settings, keep)

    def _load(self, path: Path, name: str, settings: Settings | None, keep: bool) -> RunLoad:
        worker = self._idle.get()
        try:
            return worker.load(path, name, settings, keep)
        finally:
            self._idle.put(worker if worker.alive else Worker())

    def close(self) -> None:
        """Ends all processes; what was not begun is left."""
        self._threads.shutdown(cancel_futures=True)
        for _number in range(self._count):
            self._idle.get().close()


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """`count` processes, until the end of the context."""
    opened = Workers(count)
    try:
        yield opened
    finally:
        opened.close()


def _main() -> None:
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever libraries print must not mix with the answers
    while True:
        try:
            path, name, settings, keep = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: RunLoad | Failure
        try:
            answer = load_run(path, name, settings=settings, keep=keep)
        except HalcyonError as why:
            answer = Failure(why.code, str(why))
        except OSError as why:
            answer = Failure(HalcyonSystemError.code, f"{path}: {why}")
        pickle.dump(answer, answers)
        answers.flush()


if __name__ == "__main__":
    # The answers must be those of the module that the other side knows, not of __main__.
    from halcyon.observe.analysis import run_workers

    run_workers._main()
