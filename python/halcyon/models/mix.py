"""The load of storage targets by jobs as they were recorded (Wright 2014, eq. 6.1 with unequal requests).

Each file of a job is one request, for the targets on which it has stripes: the file system places it apart from the
job's other files, two of which may meet on a target as those of two jobs do.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.fit import Fit
from halcyon.models.functions import functions
from halcyon.models.placed import fit_of

LOAD = 1.5
"""To keep, where nobody says another one."""


@dataclass(frozen=True)
class Job:
    """A recorded run. `requests`: targets of each file that it read or wrote, and whose layout is known; `unknown`:
    its other such files, by their file system."""

    name: str
    requests: list[int]
    stripes_on: dict[str, int]
    unknown: dict[str, int]

    @property
    def stripes(self) -> int:
        return sum(self.requests)


@dataclass(frozen=True)
class Capped:
    """With files of at most `request` targets each."""

    request: int
    in_use: float
    load: float


@dataclass(frozen=True)
class Mix:
    """All jobs at once. `unknown`: jobs none of whose layouts is known; they are in no number below. `fit`: targets by
    their files, expected and as recorded. `capped`: the largest request that keeps the load, None: not even 1 does;
    `targets_for_limit`: the fewest that do."""

    total: int
    unknown: list[Job]
    jobs: list[Job]
    fit: Fit
    load_limit: float
    capped: Capped | None
    targets_for_limit: int

    @property
    def largest_request(self) -> int:
        return max(request for job in self.jobs for request in job.requests)


def mix(total: int, jobs: Sequence[Job], load_limit: float = LOAD) -> Mix:
    """UsageError: no layout is known, or a file has more targets than there are."""
    known = [job for job in jobs if job.requests]
    if not known:
        told = "; ".join(f"{job.name}: {_told(job)}" for job in jobs)
        raise UsageError(f"no layout of a file is known ({told}); recordings on Lustre and GlusterFS tell them")
    requests = [request for job in known for request in job.requests]
    stripes_on: Counter[str] = Counter()
    for job in known:
        stripes_on.update(job.stripes_on)
    return Mix(
        total, [job for job in jobs if not job.requests], known, fit_of(total, requests, stripes_on),
        load_limit, _capped(total, requests, load_limit), functions().targets_for_load(requests, load_limit),
    )  # fmt: skip


def _told(job: Job) -> str:
    files = ", ".join(f"{count:,} on {kind}" for kind, count in job.unknown.items())
    return f"files without a layout: {files}" if files else "no file read or written"


def _capped(total: int, requests: Sequence[int], limit: float) -> Capped | None:
    """By halving: each stripe less lowers the load, or leaves it."""
    low, high = 0, max(requests)
    while low < high:
        middle = (low + high + 1) // 2
        if functions().load_of_jobs(total, [min(request, middle) for request in requests]).load <= limit:
            low = middle
        else:
            high = middle - 1
    if low == 0:
        return None
    told = functions().load_of_jobs(total, [min(request, low) for request in requests])
    return Capped(low, told.in_use, told.load)
