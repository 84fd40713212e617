#!/usr/bin/env python3
"""Findings against the truth: programs that each have one fault, or none, recorded for real."""

import os
import sys
from pathlib import Path

from rounds import Rounds, unmet

sys.path.insert(0, str(Path(os.environ["HALCYON_ROOT"]) / "tests/python"))
from observe.scored.scoring import Scored, needed, precision, recall, score
from observe.scored.truth import TRUTHS

FIGURES = ("findings_precision", "findings_recall")


def main() -> int:
    missing = sorted({program for truth in TRUTHS if (program := needed(truth)) is not None})
    if missing:  # a score of the runs that are left would be another figure
        for name in FIGURES:
            unmet("observe", name, f"not installed: {', '.join(missing)}")
        return 0
    for current in Rounds("observe"):
        every = _scored(Path(f"round-{current.made}").resolve())
        for name, share in zip(FIGURES, (precision(every), recall(every)), strict=True):
            current.value(name, share, "share")
    return 0


def _scored(folder: Path) -> list[Scored]:
    every = [score(truth, folder / truth.name) for truth in TRUTHS]
    for one in every:
        if not one.right:
            said = f"missing {sorted(one.missing)}, false {sorted(one.false)}, words {list(one.wrong_words)}"
            print(f"{folder.name}: {one.truth.name}: {said}", file=sys.stderr)
    return every


if __name__ == "__main__":
    sys.exit(main())
