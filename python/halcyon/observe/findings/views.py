"""The pieces that an application's views of its files show: what data sieving and collective buffering work on."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence

VIEW = "mpi.view"
"""The fact that tells them."""


_FACT = re.compile(r"(\d+) bytes every (\d+)( at first)?")


@dataclass(frozen=True)
class View:
    """Pieces of `piece_bytes` that begin `stride_bytes` apart."""

    piece_bytes: int
    stride_bytes: int
    at_first: bool
    """Only the first pieces of the view are known to be like this."""

    @property
    def text(self) -> str:
        """`64-byte pieces every 256 bytes`."""
        end = " at first" if self.at_first else ""
        return f"{self.piece_bytes:,}-byte pieces every {self.stride_bytes:,} bytes{end}"


def view_in(fact: str) -> View | None:
    """Of the fact `64 bytes every 256`; None: it says something else."""
    told = _FACT.fullmatch(fact)
    return View(int(told[1]), int(told[2]), told[3] is not None) if told else None


def piece_bytes(answers: Answers) -> dict[int, int]:
    """Of each file that was seen in pieces that lie apart: how long the shortest of them is, in bytes."""
    shortest: dict[int, int] = {}
    for row in _views(answers):
        if row["file"] is not None and (view := view_in(row["value"])):
            shortest[row["file"]] = min(view.piece_bytes, shortest.get(row["file"], view.piece_bytes))
    return shortest


def view_of(answers: Answers, files: Iterable[int]) -> View | None:
    """Of these files: what most processes saw. None: no view showed pieces that lie apart."""
    most = _seen(answers, files).most_common(1)
    return most[0][0] if most else None


def view_evidence(answers: Answers, files: Iterable[int]) -> list[Evidence]:
    """Of these files' views: what most processes saw, and how many others there were."""
    seen = _seen(answers, files)
    if not seen:
        return []
    most = seen.most_common(1)[0][0]
    others = [Evidence("other_view_count", "other views of these files", len(seen) - 1)] if len(seen) > 1 else []
    return [
        Evidence("view_piece_bytes", "pieces that the view shows", most.piece_bytes),
        Evidence("view_stride_bytes", "from the begin of a piece to that of the next", most.stride_bytes),
        *others,
    ]


def _seen(answers: Answers, files: Iterable[int]) -> Counter[View]:
    wanted = set(files)
    return Counter(view for row in _views(answers) if row["file"] in wanted and (view := view_in(row["value"])))


def _views(answers: Answers) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = _seen_views(answers.survey.dataset.facts).to_pyarrow().to_pylist()
    return rows


@question
def _seen_views(facts: ibis.Table) -> ibis.Table:
    return facts.filter(_.key == VIEW).select("file", "value")
