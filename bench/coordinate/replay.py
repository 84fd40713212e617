"""Two applications at a storage whose speeds side by side are known, moved from event to event; who moves is decided by
the policy code of the coordinator."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from coordinator_bounds import coordinator_bounds

from halcyon.policy.functions import Learned, Registered, State, Turns, functions

_DONE_S = 1e-9
_MOST_EVENTS = 100_000


@dataclass(frozen=True)
class Load:
    """Of an application, as the coordinator knows it: `weight`, requests under way; `demand`, the share of the
    storage's bandwidth that it takes alone."""

    processes: int
    weight: float = 1.0
    demand: float = 1.0


@dataclass(frozen=True)
class Access:
    """A phase of I/O. `speed`: beside the other one, relative to its speed alone. `forecast_s`: its time alone as the
    coordinator knows it."""

    arrives_s: float
    alone_s: float
    speed: float
    load: Load
    forecast_s: float


@dataclass
class _Running:
    """An access that goes on; `seen` is what the coordinator knows of it."""

    of: Access
    seen: Registered
    left_s: float
    ended_s: float | None = None

    def move_on(self, speed: float, seconds: float, now_s: float) -> None:
        self.left_s -= speed * seconds
        self.seen.left_s = max(self.left_s, 0.0) / self.of.alone_s * self.of.forecast_s
        if self.left_s <= _DONE_S:
            self.ended_s = now_s


class Replay:
    """Of two accesses under one rule, both as users write them: `set-10`, `cpu-hours`. `learned`: None, the coordinator
    has seen neither of the two before, and assumes that bandwidth is shared in proportion to weights."""

    def __init__(self, accesses: Sequence[Access], rule: str, metric: str, learned: Learned | None = None) -> None:
        self._policy = functions()
        self._rule, self._metric = (
            getattr(of, word.upper().replace("-", "_"))
            for of, word in ((self._policy.Rule, rule), (self._policy.Metric, metric))
        )
        self._learned = learned
        self._bounds = coordinator_bounds()
        self._accounts, self._sets = self._policy.Ledger(), self._policy.Ledger()
        self._all = [self._running(number, one) for number, one in enumerate(accesses, start=1)]

    def times_s(self) -> list[float]:
        """From the arrival of each to its end."""
        now_s = min(one.of.arrives_s for one in self._all)
        for _ in range(_MOST_EVENTS):
            present = [one for one in self._all if one.ended_s is None and one.of.arrives_s <= now_s]
            if not present and all(one.ended_s is not None for one in self._all):
                return [(one.ended_s or 0.0) - one.of.arrives_s for one in self._all]
            until_s = self._decide(present, now_s) if present else math.inf
            moving = [one for one in present if one.seen.state == self._policy.Movement.MOVING]
            speeds = [one.of.speed if len(moving) > 1 else 1.0 for one in moving]
            until_s = min(
                until_s,
                *(one.of.arrives_s for one in self._all if one.of.arrives_s > now_s),
                *(now_s + one.left_s / speed for one, speed in zip(moving, speeds, strict=True)),
            )
            for one, speed in zip(moving, speeds, strict=True):
                one.move_on(speed, until_s - now_s, until_s)
                self._charge(one, until_s - now_s, until_s)
            now_s = until_s
        raise RuntimeError(f"{self._policy.name_of(self._rule)}: the accesses have not ended after {now_s} s")

    def _decide(self, present: Sequence[_Running], now_s: float) -> float:
        """Who moves from now on; returns when to ask again."""
        made = self._policy.decide(
            [one.seen for one in present], self._rule, self._metric, now_s,
            learned=self._learned, accounts=self._accounts, sets=self._sets, settings=self._bounds,
        )  # fmt: skip
        states = self._policy.Movement
        for one in present:
            if one.seen.id in made.move:
                self._become(one, states.MOVING, now_s)
            elif one.seen.state == states.MOVING:
                self._become(one, states.INTERRUPTED, now_s)
        return made.ask_again_s if made.ask_again_s > now_s else now_s + self._bounds.ask_again_s

    def _become(self, one: _Running, state: State, now_s: float) -> None:
        if one.seen.state == state:
            return
        one.seen.waited_s = now_s - one.seen.since_s if state == self._policy.Movement.MOVING else 0.0
        one.seen.state, one.seen.since_s = state, now_s

    def _charge(self, one: _Running, seconds: float, now_s: float) -> None:
        ledgers: tuple[tuple[Turns, int], ...] = (
            (self._accounts, one.seen.account), (self._sets, self._policy.set_of(one.seen)),
        )  # fmt: skip
        for ledger, key in ledgers:
            ledger.charge(key, seconds, now_s)

    def _running(self, number: int, access: Access) -> _Running:
        seen = registered(number, access.forecast_s, access.load)
        seen.arrived_s = seen.since_s = access.arrives_s
        return _Running(access, seen, access.alone_s)


def registered(number: int, forecast_s: float, load: Load) -> Registered:
    """As the coordinator knows an application whose phase begins: an account of its own, all storage targets."""
    policy = functions()
    made = policy.Application()
    made.id = made.account = number
    made.state = policy.Movement.WAITING
    made.alone_s = made.left_s = forecast_s
    made.processes, made.weight, made.demand = load.processes, load.weight, load.demand
    return made
