"""Jobs of a batch system, as its administrators announce them to a coordinator."""

from halcyon.coordinate.connection import Connection
from halcyon.errors import UsageError
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
