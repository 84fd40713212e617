"""Writes the sample pages that the viewer's tests open: sample_pages.py FOLDER [NAME…], all of them by default."""

import dataclasses
import sys
import tempfile
from pathlib import Path

from halcyon.observe.viewer import Document, render_document
from halcyon.observe.viewer.document import Run
from halcyon.observe.viewer.timeline import Limits, read_timeline
from sample_run import Shape, write_run
from sample_tables import document_of

SHAPES = {
    "checkpoints": (Shape(ranks=64), Limits()),
    "posix": (Shape(ranks=8, mpi=False), Limits()),
    "million": (Shape(ranks=256, checkpoints=12, cycles=8), Limits()),
    "summed": (Shape(ranks=64), Limits(every_call=10_000, longest=5_000)),
}


def write_page(folder: Path, name: str) -> None:
    """Writes `folder`/`name`.html."""
    output = folder / f"{name}.html"
    if name == "empty":
        run = Run("nothing", "darshan 3.4.1", None, None, None, None, None, None, 0, None, 0, 0)
        render_document(Document(run), None, output)
        return
    shape, limits = SHAPES[name]
    with tempfile.TemporaryDirectory() as scratch:
        dataset = Path(scratch) / "run"
        write_run(dataset, shape)
        calls = read_timeline(dataset, limits)
        render_document(dataclasses.replace(document_of(dataset), timeline=calls.timeline), calls, output)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or [*SHAPES, "empty"]:
        write_page(folder, name)


if __name__ == "__main__":
    main(sys.argv[1:])
