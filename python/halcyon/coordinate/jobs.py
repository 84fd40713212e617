"""Jobs of a batch system, as its administrators announce them to a coordinator."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from halcyon.coordinate.configuration import Coordinator
from halcyon.coordinate.connection import Connection, connect_to_any
from halcyon.errors import HalcyonError, UsageError
from halcyon.layers.job import LONGEST_NAME, is_plain


def reserve_job(at: Connection, job: str, user: int, processes: int = 0, nodes: int = 0) -> None:
    """Nobody but `user` can register this job, or names that begin with its name and a dot, until it ends; 0: its size
    is not known. UsageError: this user is no administrator there, or no application can have this name."""
    if not 1 <= len(job) <= LONGEST_NAME or not is_plain(job):
        raise UsageError(f"job {job!r}: expected 1 to {LONGEST_NAME} letters, digits or signs of ASCII, no spaces")
    size = {"processes": processes, "nodes": nodes}
    at.ask({"type": "reserve", "job": job, "user": user} | {name: n for name, n in size.items() if n})


def end_job(at: Connection, job: str) -> bool:
    """The job has ended: its applications lose their turns at once. False: the coordinator knows no such job, neither
    reserved nor registered. UsageError: this user is no administrator there."""
    return bool(at.ask({"type": "ended", "job": job}))


@dataclass
class Told:
    """Names of coordinators that were told, and why others were not."""

    names: list[str] = field(default_factory=list)
    failed: dict[str, HalcyonError] = field(default_factory=dict)


def tell_each(every: Iterable[Coordinator], tell: Callable[[Connection], object], timeout_s: float = 5) -> Told:
    """One that fails keeps nobody from telling the others. `timeout_s`: of each step."""
    told = Told()
    for one in every:
        try:
            with connect_to_any(one.addresses, one.munge_socket, timeout_s, one.user) as connection:
                tell(connection)
        except HalcyonError as why:
            told.failed[one.name] = why
        else:
            told.names.append(one.name)
    return told
