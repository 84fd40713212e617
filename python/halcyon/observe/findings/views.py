"""The pieces that an application's views of its files show: what data sieving and collective buffering work on."""

import re
from collections import Counter
from collections.abc import Iterable

from ibis import _

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.finding import Evidence

VIEW = "mpi.view"
"""The fact that tells them."""


def view_text(fact: str) -> str | None:
    """`64-byte pieces every 256 bytes`, of the fact `64 bytes every 256`; None: it says something else."""
    told = re.fullmatch(r"(\d+) bytes every (\d+)( at first)?", fact)
    if told is None:
        return None
    return f"{int(told[1]):,}-byte pieces every {int(told[2]):,} bytes{told[3] or ''}"


def view_evidence(answers: Answers, files: Iterable[int]) -> list[Evidence]:
    """Of these files' views: what most processes saw. Empty: no view showed pieces that lie apart."""
    wanted = set(files)
    facts = answers.survey.dataset.facts.filter(_.key == VIEW).select("file", "value").to_pyarrow().to_pylist()
    seen = Counter(text for row in facts if row["file"] in wanted and (text := view_text(row["value"])))
    if not seen:
        return []
    most = seen.most_common(1)[0][0]
    others = f", and {len(seen) - 1} others" if len(seen) > 1 else ""
    return [Evidence("view of the file", most + others)]
