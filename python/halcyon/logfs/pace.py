"""How fast, and in whose turn, containers are worked on: nobody waits for that, and others have I/O of their own."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from halcyon.compiled import load_compiled
from halcyon.layers.coordination import Coordination
from halcyon.layers.job import Job


class Pace:
    """For several calls, one after the other: what one of them does not use up of the rate, the next one may."""

    def __init__(self, bytes_per_s: float = 0, coordination: Coordination | None = None) -> None:
        """`bytes_per_s`: at most; 0: as fast as it goes. With a coordination, each file is written in the turn of a job
        of its own at the file system to which the bytes go.

        Raises:
            UsageError, ConfigError, UnavailableError: as Coordination.variables().
        """
        variables: dict[str, str] = {}
        if coordination is not None:
            variables = replace(coordination, job=Job.new()).variables()
        with _in_environment(variables):
            self.compiled: Any = load_compiled("_logfs").Pace(
                bytes_per_s=bytes_per_s, takes_turns=coordination is not None
            )

    def take_remarks(self) -> list[str]:
        """What went otherwise than the coordination means it, a sentence each, since this was asked last."""
        return list(self.compiled.take_remarks())


@contextmanager
def _in_environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Of this process, and of the agent that it starts."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
