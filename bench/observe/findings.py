#!/usr/bin/env python3
"""Findings against the truth: programs that each have one fault, or none, recorded for real."""

import os
import sys
from pathlib import Path

from figures import show

sys.path.insert(0, str(Path(os.environ["HALCYON_ROOT"]) / "tests/python"))
from observe.scored.scoring import Scored, needed, precision, recall, score
from observe.scored.truth import TRUTHS

ROUNDS = 3
SKIPPED = 77


def main() -> int:
    missing = sorted({program for truth in TRUTHS if (program := needed(truth)) is not None})
    if missing:  # a score of the runs that are left would be another figure
        print(f"not measured: {', '.join(missing)} not found", file=sys.stderr)
        return SKIPPED
    rounds = [_round(number) for number in range(ROUNDS)]
    show("findings_precision", [precision(one) for one in rounds], "share")
    show("findings_recall", [recall(one) for one in rounds], "share")
    return 0


def _round(number: int) -> list[Scored]:
    every = [score(truth, Path(f"round-{number}").resolve() / truth.name) for truth in TRUTHS]
    for one in every:
        if not one.right:
            said = f"missing {sorted(one.missing)}, false {sorted(one.false)}, words {list(one.wrong_words)}"
            print(f"round {number}: {one.truth.name}: {said}", file=sys.stderr)
    return every


if __name__ == "__main__":
    sys.exit(main())
