"""Loads of jobs as recorded: data sets of known layout."""

from pathlib import Path

import pytest
from synthetic import MIB, Trace

from halcyon.errors import UsageError
from halcyon.models.functions import functions
from halcyon.models.mix import Job, mix
from halcyon.models.recorded_job import job_of


def targets(*indices: int) -> list[str]:
    return [f"OST{index:04x}" for index in indices]


def recorded(directory: Path, files: dict[str, list[str] | None], unused: str = "") -> Path:
    """A run that writes each file, and only opens the unused one; a file without servers has no known layout."""
    trace = Trace()
    for place, (path, servers) in enumerate(files.items()):
        kind = "ext4" if servers is None else "lustre"
        file = trace.file(path, stripe_bytes=MIB, servers=servers, filesystem=kind)
        if path == unused:
            trace.add(0, "posix", "open", "open", place, 1, file=file)
        else:
            trace.write(0, file, 0, MIB, place, 1)
    return trace.store(directory)


def test_each_file_that_was_used_is_a_request_for_its_targets(tmp_path: Path) -> None:
    run = recorded(
        tmp_path / "a",
        {"/l/x": targets(0, 1, 2), "/l/y": targets(2), "/l/z": targets(5, 6, 5), "/l/no": targets(9), "/e/log": None},
        unused="/l/no",
    )
    job = job_of(run)
    assert sorted(job.requests) == [1, 2, 3], "two stripes on one target are one"
    assert job.stripes_on == dict(zip(targets(0, 1, 2, 5, 6), [1, 1, 2, 1, 1], strict=True))
    assert job.unknown == {"ext4": 1}


def test_the_mix_is_that_of_unequal_requests(tmp_path: Path) -> None:
    jobs = [
        job_of(recorded(tmp_path / "a", {"/l/x": targets(0, 1, 2, 3), "/l/y": targets(2, 3)})),
        job_of(recorded(tmp_path / "b", {"/l/z": targets(3, 4, 5)})),
        job_of(recorded(tmp_path / "c", {"/e/z": None})),
    ]
    told = mix(12, jobs)
    expected = functions().load_of_jobs(12, [4, 2, 3])
    assert told.fit.expected_in_use == pytest.approx(expected.in_use)
    assert told.fit.expected_load == pytest.approx(expected.load)
    assert (told.fit.actual_in_use, told.fit.actual) == (6, [6, 4, 1, 1])
    assert [job.name for job in told.unknown] == [str(tmp_path / "c")]
    assert [job.stripes for job in told.jobs] == [6, 3]


def job(*requests: int) -> Job:
    """On the first targets of a file system."""
    return Job("job", list(requests), dict.fromkeys(targets(*range(sum(requests))), 1), {})


@pytest.mark.parametrize("limit", [1.1, 1.3, 1.6])
def test_the_cap_is_the_largest_request_that_keeps_the_load(limit: float) -> None:
    requests = [9, 4, 2]
    told = mix(16, [job(*requests)], limit)
    assert told.capped is not None

    def load(cap: int) -> float:
        return functions().load_of_jobs(16, [min(request, cap) for request in requests]).load

    assert told.capped.load == load(told.capped.request) <= limit
    assert told.capped.request == 9 or load(told.capped.request + 1) > limit
    assert functions().load_of_jobs(told.targets_for_limit, requests).load <= limit
    assert functions().load_of_jobs(told.targets_for_limit - 1, requests).load > limit or told.targets_for_limit == 9


def test_a_load_that_no_request_keeps_has_no_cap() -> None:
    assert mix(3, [job(1), job(1)], 1.01).capped is None


def test_jobs_without_any_layout_are_refused(tmp_path: Path) -> None:
    run = recorded(tmp_path / "c", {"/e/z": None})
    with pytest.raises(UsageError, match=r"no layout of a file is known \(.*/c: files without a layout: 1 on ext4\)"):
        mix(4, [job_of(run)])


def test_more_targets_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="--total 5; these files lie on 6 targets"):
        mix(5, [job(6)])
