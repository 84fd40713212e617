"""The pieces that an application's views of its files show: what data sieving and collective buffering work on."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence

VIEW = "mpi.view"
"""The fact that tells them."""


_FACT = re.compile(r"(\d+) bytes every (\d+)( at first)?")


def view_text(fact: str) -> str | None:
    """`64-byte pieces every 256 bytes`, of the fact `64 bytes every 256`; None: it says something else."""
    told = _FACT.fullmatch(fact)
    if told is None:
        return None
    return f"{int(told[1]):,}-byte pieces every {int(told[2]):,} bytes{told[3] or ''}"


def piece_bytes(answers: Answers) -> dict[int, int]:
    """Of each file that was seen in pieces that lie apart: how long the shortest of them is, in bytes."""
    shortest: dict[int, int] = {}
    for row in _views(answers):
        if row["file"] is not None and (told := _FACT.fullmatch(row["value"])):
            bytes_ = int(told[1])
            shortest[row["file"]] = min(bytes_, shortest.get(row["file"], bytes_))
    return shortest


def view_evidence(answers: Answers, files: Iterable[int]) -> list[Evidence]:
    """Of these files' views: what most processes saw. Empty: no view showed pieces that lie apart."""
    wanted = set(files)
    seen = Counter(text for row in _views(answers) if row["file"] in wanted and (text := view_text(row["value"])))
    if not seen:
        return []
    most = seen.most_common(1)[0][0]
    others = f", and {len(seen) - 1} others" if len(seen) > 1 else ""
    return [Evidence("view of the file", most + others)]


def _views(answers: Answers) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (
        answers.survey.dataset.facts.filter(_.key == VIEW).select("file", "value").to_pyarrow().to_pylist()
    )
    return rows
