"""What a coordinator says of itself to its administrators."""

from dataclasses import MISSING, dataclass, fields
from typing import Any, TypeVar

from halcyon.coordinate.connection import Connection, Message
from halcyon.errors import InternalError

_Told = TypeVar("_Told")


@dataclass(frozen=True)
class Load:
    """Of the file system. `waiting` includes interrupted applications; `unseen_share` is of the bandwidth."""

    rule: str
    metric: str
    epoch: int
    applications: int
    moving: int
    waiting: int
    bytes_per_s: float
    decisions: int
    counts: list[str]
    unseen_share: float = 0.0


@dataclass(frozen=True)
class Application:
    """`lease` is 0 for one that has no turn; `bytes_left` and `left_s` are 0 where they are not known."""

    application: int
    job: str
    user: int
    account: str
    processes: int
    nodes: int
    agents: int
    state: str
    bytes_left: int
    left_s: float
    in_state_s: float
    expected_wait_s: float
    lease: int


@dataclass(frozen=True)
class Reservation:
    """Of a job that a batch system has announced. `processes` and `nodes` are 0 where they are not known."""

    job: str
    user: int
    processes: int
    nodes: int
    since_s: float


@dataclass(frozen=True)
class Top:
    """At one moment."""

    load: Load
    applications: list[Application]
    reservations: list[Reservation]


@dataclass(frozen=True)
class Decision:
    """`costs` are of `ways`, in the metric; `observed_cost` is -1 until all phases concerned have ended. `left_s`, of a
    phase without others, and `demands`, shares of the storage that one takes alone, are what was believed of `jobs`;
    `unseen_share` of writers without Halcyon."""

    ago_s: float
    why: str
    text: str
    move: list[str]
    stop: list[str]
    ways: list[str]
    costs: list[float]
    observed_cost: float
    jobs: list[str]
    left_s: list[float]
    demands: list[float]
    unseen_share: float = 0.0


def ask_top(of: Connection) -> Top:
    """UsageError: this user is no administrator there."""
    first, *others = of.ask({"type": "top"})
    applications = [_read(Application, one) for one in others if one["type"] == "application"]
    reservations = [_read(Reservation, one) for one in others if one["type"] == "reservation"]
    return Top(_read(Load, first), applications, reservations)


def ask_decisions(of: Connection, most: int) -> list[Decision]:
    """The latest, oldest first. UsageError: as above."""
    return [_read(Decision, one) for one in of.ask({"type": "explain", "n": most})]


def _read(kind: type[_Told], message: Message) -> _Told:
    """Lists that are empty, and what has a default, need not be sent."""
    given: dict[str, Any] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name in message:
            given[field.name] = message[field.name]
        elif "list" in str(field.type):
            given[field.name] = []
        elif field.default is MISSING:
            raise InternalError(f"the coordinator's {message['type']!r} lacks {field.name!r}")
    return kind(**given)
