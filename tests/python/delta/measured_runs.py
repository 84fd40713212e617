"""Runs of tests, as a measurement would have left them."""

from halcyon.delta.commands import Command
from halcyon.delta.io_time import Phase
from halcyon.delta.runs import Key, Run, Setup, Told

SETUP = Setup(Command("A", ("a", "--word"), ("c1",)), Command("B", ("b",), ("c2",)), "/data", placed=(("f", "s1"),))


def told(seconds: float, processes: int = 2) -> Told:
    return Told(seconds, [Phase(7, seconds, 100)], seconds, 0.0, 100, processes, 0, 7)


def alone(name: str, seconds: float, problem: str | None = None) -> Run:
    times = {"a": told(seconds), "b": None} if name == "A" else {"a": None, "b": told(seconds)}
    return Run(Key(alone=name), times["a"], times["b"], None, None, problem, 1.0, 2.0)


def both(key: Key, a_s: float, b_s: float, problem: str | None = None) -> Run:
    return Run(key, told(a_s), told(b_s), key.dt_ns / 1e9, 0.95, problem, 1.0, 2.0)
