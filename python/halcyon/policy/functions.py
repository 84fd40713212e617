"""The types and functions of halcyon._core.policy, with their types. Times are in seconds, of one clock.

A number that makes no sense never fails a decision; src/policy/application.hpp says what stands for it.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, cast

from halcyon.compiled import core


class State(Protocol):
    """What an application does about the file system."""

    COMPUTING: "State"
    EXPECTED: "State"
    WAITING: "State"
    MOVING: "State"
    INTERRUPTED: "State"


class Way(Protocol):
    """Who has the turn."""

    INTERFERE: "Way"
    FCFS: "Way"
    INTERRUPT: "Way"
    DELAY: "Way"
    FAIR_SHARE: "Way"
    SET_10: "Way"
    DYNAMIC: "Way"


class Sum(Protocol):
    """The sum that the rule dynamic minimises."""

    SUM_OF_TIMES: "Sum"
    SUM_OF_INTERFERENCE_FACTORS: "Sum"
    CPU_HOURS: "Sum"
    ENERGY: "Sum"


class Registered(Protocol):
    """One application as a decision sees it."""

    id: int
    state: State
    processes: int
    nodes: int
    watts_per_node: float
    account: int
    account_weight: float
    bytes_left: int
    alone_s: float
    left_s: float
    arrived_s: float
    probability: float
    targets: list[int]
    demand: float
    weight: float
    since_s: float
    waited_s: float
    between_starts_s: float


class Learned(Protocol):
    """How much applications slow each other down, learnt from their speeds side by side."""

    def observe(self, one: Registered, other: Registered, speed: float) -> None:
        """`one` moved beside `other` at `speed`, relative to its speed alone."""
        ...

    def slow_down(self, one: Registered, other: Registered) -> float:
        """Of `one` beside `other`, 1 or more."""
        ...

    def observations(self, one: int, other: int) -> int:
        """Of application `one` beside `other`, by their ids."""
        ...

    def forget(self, one: int) -> None:
        """Everything about the application of this id."""
        ...


class Unseen(Protocol):
    """The share of the bandwidth that writers without Halcyon take."""

    def observe(self, expected: float, measured: float) -> None:
        """The share that those with Halcyon had, and should have had by themselves."""
        ...

    def share(self) -> float:
        """0 up to below 1."""
        ...


class Turns(Protocol):
    """Time with the turn, lately, by account or set."""

    def charge(self, key: int, turn_s: float, now_s: float) -> None:
        """`key` had the turn for `turn_s` up to `now_s`."""
        ...

    def used_s(self, key: int, now_s: float) -> float:
        """Of it, what still counts."""
        ...


class Bounds(Protocol):
    """Bounds of decisions."""

    starvation_s: float
    relief_s: float
    slice_s: float
    interruption_s: float
    least_gain: float
    all_begin_within_s: float
    interrupts_after_s: float
    tolerated_factor: float
    least_probability: float
    search_positions: int
    ask_again_s: float


class Alternative(Protocol):
    """A way to go on, and the value of the metric that it leads to by forecast."""

    way: Way
    cost: float


class GroupDecision(Protocol):
    """About applications of which each shares storage with another. Its alternatives are a slice of the decision's."""

    why: str
    applications: int
    expected: int
    first_id: int
    alternatives_begin: int
    alternatives_end: int


class Decision(Protocol):
    """Ids of those that may move from now on, and of those that move and have to stop."""

    move: list[int]
    stop: list[int]
    ask_again_s: float
    groups: list[GroupDecision]
    alternatives: list[Alternative]


class Functions(Protocol):
    """The submodule."""

    Movement: State
    Rule: Way
    Metric: Sum

    def Application(self) -> Registered: ...  # noqa: N802
    def Interference(self) -> Learned: ...  # noqa: N802
    def UnseenWriter(self) -> Unseen: ...  # noqa: N802
    def Ledger(self, half_life_s: float = 60.0) -> Turns: ...  # noqa: N802
    def Settings(self) -> Bounds: ...  # noqa: N802

    def name_of(self, of: Way | Sum) -> str:
        """As users write it: fair-share, sum-of-times."""
        ...

    def set_of(self, application: Registered) -> int:
        """Its set under set-10 (Boito et al. 2023)."""
        ...

    def decide(
        self,
        applications: Sequence[Registered],
        rule: Way,
        metric: Sum,
        now_s: float,
        *,
        learned: Learned | None = None,
        accounts: Turns | None = None,
        sets: Turns | None = None,
        unseen_share: float = 0.0,
        settings: Bounds = ...,
    ) -> Decision:
        """Who moves now, who stops, and when to ask again at the latest."""
        ...


def functions() -> Functions:
    """UnavailableError: this installation lacks its compiled module."""
    return cast(Functions, cast(Any, core()).policy)


def rule_names() -> tuple[str, ...]:
    """As coordinators.yaml calls them: fcfs, fair-share. UnavailableError: as functions()."""
    return _names(functions().Rule)


def metric_names() -> tuple[str, ...]:
    """As coordinators.yaml calls them: sum-of-times. UnavailableError: as functions()."""
    return _names(functions().Metric)


def _names(enumeration: Way | Sum) -> tuple[str, ...]:
    return tuple(functions().name_of(one) for one in cast(Iterable[Way | Sum], enumeration))
