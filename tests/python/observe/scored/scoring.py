"""Records the programs of the table for real, and counts what the findings say of them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from observe.scored.truth import Truth

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.findings import Finding, findings
from halcyon.observe.open_run import open_run

SETTINGS = Settings(worth_seconds=0.0, worth_run_share=0.0)
"""Costs count by their share of the I/O time alone: on a fast machine, these short runs lose less than 10 ms."""
HERE = Path(__file__).parent
_QUIET = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@dataclass(frozen=True)
class Scored:
    """What was found of one run, against its truth."""

    truth: Truth
    found: frozenset[str]
    wrong_words: tuple[str, ...]
    """Of Truth.never_said, those that were said."""

    @property
    def missing(self) -> frozenset[str]:
        return self.truth.expected - self.found

    @property
    def false(self) -> frozenset[str]:
        return self.found - self.truth.expected - self.truth.allowed

    @property
    def right(self) -> bool:
        return not (self.missing or self.false or self.wrong_words)


def needed(truth: Truth) -> str | None:
    """The first program that is not installed; None: the run can be made."""
    wanted = ["gcc"] if truth.mpi is None else [f"mpicc.{truth.mpi}", f"mpirun.{truth.mpi}"]
    return next((program for program in wanted if shutil.which(program) is None), None)


def score(truth: Truth, folder: Path) -> Scored:
    """Compiles, runs and records it in `folder`, which is its own, and asks for findings."""
    folder.mkdir(parents=True)
    program = _compiled(truth, folder)
    environment = dict(os.environ) | _QUIET
    if truth.hints:
        (folder / "hints").write_text("".join(f"{line}\n" for line in truth.hints), encoding="utf-8")
        environment["ROMIO_HINTS"] = str(folder / "hints")
    launch = [] if truth.mpi is None else [f"mpirun.{truth.mpi}", "-n", str(truth.ranks)]
    words = [sys.executable, "-m", "halcyon", "run", "--trace", "-o", "run.halcyon", "--", *launch, program, truth.way]
    done = subprocess.run(
        words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180,
        check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{truth.name}: ended with {done.returncode}: {done.stderr[-500:]}")
    with open_run(folder / "run.halcyon") as dataset:
        return judged(truth, findings(Answers(dataset, SETTINGS)))


def judged(truth: Truth, found: Iterable[Finding]) -> Scored:
    every = list(found)
    said = " ".join(one.change for one in every)
    wrong = tuple(words for words in truth.never_said if words in said)
    return Scored(truth, frozenset(one.key for one in every), wrong)


def precision(scored: Iterable[Scored]) -> float:
    """The share of what was said that is true; wrong words count as said and not true."""
    every = list(scored)
    right = sum(len(one.truth.expected & one.found) for one in every)
    wrong = sum(len(one.false) + len(one.wrong_words) for one in every)
    return right / (right + wrong) if right + wrong else 1.0


def recall(scored: Iterable[Scored]) -> float:
    """The share of what is true that was said."""
    every = list(scored)
    wanted = sum(len(one.truth.expected) for one in every)
    return 1 - sum(len(one.missing) for one in every) / wanted if wanted else 1.0


def _compiled(truth: Truth, folder: Path) -> str:
    compiler, source = ("gcc", "posix") if truth.mpi is None else (f"mpicc.{truth.mpi}", "mpi")
    program = folder / f"{source}_patterns"
    subprocess.run([compiler, "-O1", str(HERE / f"{source}_patterns.c"), "-o", str(program)], check=True)
    return str(program)
