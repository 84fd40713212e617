"""What a recorded run requested of storage targets: the layouts of the files that it used."""

from collections import Counter
from pathlib import Path

from halcyon.models.mix import Job
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.open_run import open_run


def job_of(run: Path) -> Job:
    """Of a recorded run, a data set, or another tool's trace."""
    with open_run(run) as dataset:
        used = [file for file in Answers(dataset).files if file.bytes_read or file.bytes_written]
    stripes_on: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    requests = []
    for file in used:
        if file.servers:
            requests.append(len(set(file.servers)))
            stripes_on.update(set(file.servers))
        else:
            unknown[file.filesystem or "an unknown file system"] += 1
    return Job(str(run), requests, dict(stripes_on), dict(unknown))
