"""What counters alone tell to be wrong, for sources that kept no calls: only what follows from them with certainty.

One module per kind of finding, named as that which looks at calls.
"""

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings.counted import (
    data_sieving,
    metadata_storm,
    misalignment,
    one_rank_moves_all,
    slow_rank,
    small_transfers,
)
from halcyon.observe.findings.finding import Finding

_KINDS = (small_transfers, misalignment, data_sieving, metadata_storm, one_rank_moves_all, slow_rank)


def find(answers: Answers) -> list[Finding]:
    """All that there are; none where there are calls, which the other modules look at."""
    known = answers.counted
    return [] if known is None else [finding for kind in _KINDS for finding in kind.find(answers, known)]
