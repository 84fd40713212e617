"""Writes the sample pages that the viewer's tests open: sample_pages.py FOLDER [NAME…], all of them by default."""

import dataclasses
import sys
import tempfile
from pathlib import Path

from sample_run import Shape, write_run

from halcyon.observe.analysis.machine import read_machine
from halcyon.observe.dataset import Dataset
from halcyon.observe.open_run import open_run
from halcyon.observe.report_tables import report_tables
from halcyon.observe.viewer import Document, document_of, experiment_of, render, write_page
from halcyon.observe.viewer.document import Run, Timeline
from halcyon.observe.viewer.timeline import Limits, read_timeline
from halcyon.predict.page import predictability

SHAPES = {
    "checkpoints": (Shape(ranks=64), Limits()),
    "posix": (Shape(ranks=8, mpi=False), Limits()),
    "alone": (Shape(ranks=1, checkpoints=2, mpi=False, setup=True), Limits()),
    "million": (Shape(ranks=256, checkpoints=12, cycles=8), Limits()),
    "summed": (Shape(ranks=64), Limits(every_call=10_000, longest=5_000)),
}


MORE = ("empty", "experiment", "from-one-rank", "counted")
LOG = Path(__file__).parents[1] / "data" / "darshan" / "imbalanced-io.darshan"


def write_sample(folder: Path, name: str) -> None:
    """Writes `folder`/`name`.html."""
    output = folder / f"{name}.html"
    if name == "experiment":
        write_experiment(output)
        return
    if name == "from-one-rank":
        write_scaling(output)
        return
    if name == "counted":
        with open_run(LOG) as dataset:
            render(dataset, report_tables(dataset), output)
        return
    if name == "empty":
        failed = "the command ended with exit status 139, which stands for SIGSEGV"
        run = Run("nothing", "darshan 3.4.1", None, None, None, None, None, None, 0, None, 0, 0, ended_badly=failed)
        write_page(Document(run), None, output)
        return
    shape, limits = SHAPES[name]
    with tempfile.TemporaryDirectory() as scratch:
        write_run(Path(scratch) / "run", shape)
        with Dataset.open(Path(scratch) / "run") as dataset:
            calls = read_timeline(dataset, limits)
            # The million calls are there for the timeline; their analysis would take longest of all.
            document = Document(_run(calls.timeline)) if name == "million" else _analysed(shape, dataset)
        write_page(dataclasses.replace(document, timeline=calls.timeline), calls, output)


_known: dict[Shape, Document] = {}


def _analysed(shape: Shape, dataset: Dataset) -> Document:
    """Once, where several pages show calls of the same run."""
    if shape not in _known:
        document = document_of(report_tables(dataset))
        _known[shape] = dataclasses.replace(document, predictability=predictability(dataset))
    return _known[shape]


def write_experiment(output: Path) -> None:
    """Two ways to write, with three numbers of ranks; of one pair there are two runs, of another none."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "storms"
        for ranks in (8, 32, 128):
            for mode in ("shared", "own"):
                if (ranks, mode) == (128, "own"):
                    continue
                for seed in (1, 2) if (ranks, mode) == (8, "shared") else (1,):
                    shape = Shape(ranks=ranks, checkpoints=4, variables=2, mpi=mode == "shared", seed=seed)
                    place = folder / f"mode={mode}" / f"nodes={ranks // 8}" / f"run{seed}"
                    place.parent.mkdir(parents=True, exist_ok=True)
                    write_run(place, shape)
        (folder / "broken.darshan").write_bytes(b"")
        write_page(experiment_of(read_machine(folder), "storms"), None, output)


def write_scaling(output: Path) -> None:
    """The same program from one rank on; a rank of the large runs takes a hundred times as long."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "scaling"
        for ranks, variables in ((1, 2), (4, 1), (16, 100)):
            place = folder / f"variables={variables}" / "run"
            place.parent.mkdir(parents=True)
            write_run(place, Shape(ranks=ranks, checkpoints=2, variables=variables, mpi=False))
        write_page(experiment_of(read_machine(folder), "scaling"), None, output)


def _run(timeline: Timeline) -> Run:
    n = len(timeline.processes)
    seconds = timeline.duration_s
    return Run("a million calls", "test", None, None, None, None, seconds, n, n, None, 0, timeline.calls)


def main(arguments: list[str]) -> None:
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    for name in arguments[1:] or [*SHAPES, *MORE]:
        write_sample(folder, name)


if __name__ == "__main__":
    main(sys.argv[1:])
