"""Writes the sample pages that the viewer's tests open: sample_pages.py FOLDER [NAME…], all of them by default."""

import dataclasses
import sys
import tempfile
from pathlib import Path

from sample_run import Shape, write_run

from halcyon.observe.dataset import Dataset
from halcyon.observe.report_tables import report_tables
from halcyon.observe.viewer import Document, document_of, write_page
from halcyon.observe.viewer.document import Run, Timeline
from halcyon.observe.viewer.timeline import Limits, read_timeline

SHAPES = {
    "checkpoints": (Shape(ranks=64), Limits()),
    "posix": (Shape(ranks=8, mpi=False), Limits()),
    "million": (Shape(ranks=256, checkpoints=12, cycles=8), Limits()),
    "summed": (Shape(ranks=64), Limits(every_call=10_000, longest=5_000)),
}


def write_sample(folder: Path, name: str) -> None:
    """Writes `folder`/`name`.html."""
    output = folder / f"{name}.html"
    if name == "empty":
        run = Run("nothing", "darshan 3.4.1", None, None, None, None, None, None, 0, None, 0, 0)
        write_page(Document(run), None, output)
        return
    shape, limits = SHAPES[name]
    with tempfile.TemporaryDirectory() as scratch:
        write_run(Path(scratch) / "run", shape)
        with Dataset.open(Path(scratch) / "run") as dataset:
            calls = read_timeline(dataset, limits)
            # The million calls are there for the timeline; their analysis would take longest of all.
            document = Document(_run(calls.timeline)) if name == "million" else document_of(report_tables(dataset))
        write_page(dataclasses.replace(document, timeline=calls.timeline), calls, output)


def _run(timeline: Timeline) -> Run:
    n = len(timeline.processes)
    seconds = timeline.duration_s
    return Run("a million calls", "test", None, None, None, None, seconds, n, n, None, 0, timeline.calls)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or [*SHAPES, "empty"]:
        write_sample(folder, name)


if __name__ == "__main__":
    main(sys.argv[1:])
