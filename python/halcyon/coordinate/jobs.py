"""Jobs of a batch system, as its administrators announce them to a coordinator."""

from halcyon.coordinate.connection import Connection


def reserve_job(at: Connection, job: str, user: int, processes: int = 0, nodes: int = 0) -> None:
    """Nobody but `user` can register this job, or names that begin with its name and a dot, until it ends; 0: its size
    is not known. UsageError: this user is no administrator there."""
    size = {"processes": processes, "nodes": nodes}
    at.ask({"type": "reserve", "job": job, "user": user} | {name: n for name, n in size.items() if n})


def end_job(at: Connection, job: str) -> None:
    """The job has ended: its applications lose their turns at once. UsageError: as above."""
    at.ask({"type": "ended", "job": job})
