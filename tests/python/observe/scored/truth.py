"""The table of runs, and what is true of each."""

from dataclasses import dataclass

TIMED = frozenset({"collective-wait", "collective-exchange", "collective-setup", "mpiio-overhead-write"})
"""How ranks share two cores decides on these; a run that is not made for one of them says nothing about it."""


@dataclass(frozen=True)
class Truth:
    """One run. `allowed`: findings that follow from the fault, or of which the run says nothing; others are false."""

    way: str
    expected: frozenset[str] = frozenset()
    allowed: frozenset[str] = frozenset()
    mpi: str | None = None
    """openmpi or mpich; None: the program of one process."""
    ranks: int = 1
    hints: tuple[str, ...] = ()
    """Lines of a file of hints for ROMIO."""
    never_said: tuple[str, ...] = ()
    """Words that no finding of this run may have in its change."""
    certain: bool = True
    """Which findings there are follows from the calls; else times have a part in it, which other programs on the
    machine change."""

    @property
    def name(self) -> str:
        return "-".join(part for part in (self.mpi, self.way, *self.hints) if part).replace(" ", "=")


def _keys(*keys: str) -> frozenset[str]:
    return frozenset(keys)


_NEVER_A_NODE = ("next job",)

TRUTHS = (
    Truth("large"),
    Truth("behind_a_header"),
    Truth("two_streams"),
    Truth("backward"),
    Truth("computes"),
    Truth("small", _keys("small-writes")),
    Truth("random_reads", _keys("random-reads"), _keys("small-reads", "redundant-reads")),
    Truth("waits_for_the_device", _keys("synchronous-writes")),
    Truth("syncs_each", _keys("frequent-sync"), certain=False),
    Truth("asks_again", _keys("metadata-storm")),
    Truth("reads_again", _keys("redundant-reads")),
    Truth("updates", _keys("read-modify-write")),
    Truth("collective", allowed=TIMED, mpi="openmpi", ranks=4),
    Truth("collective", allowed=TIMED, mpi="mpich", ranks=2),
    Truth("computes", mpi="openmpi", ranks=4),
    Truth("rank_0_writes", _keys("one-rank-writes"), mpi="openmpi", ranks=4),
    Truth("all_read_the_same", _keys("redundant-reads"), mpi="openmpi", ranks=4),
    Truth("late_rank", _keys("collective-wait"), TIMED, mpi="openmpi", ranks=4, never_said=_NEVER_A_NODE),
    Truth("late_rank", _keys("collective-wait"), TIMED, mpi="mpich", ranks=2),
    Truth(
        "interleaved", _keys("collective-buffering-write", "small-writes"), TIMED, mpi="openmpi", ranks=2,
        never_said=("romio_cb_write",),
    ),
    Truth(
        "interleaved", _keys("collective-buffering-write", "small-writes"), TIMED, mpi="mpich", ranks=2,
        hints=("romio_ds_write disable",), never_said=("OMPI_MCA",),
    ),
    Truth("writes_behind_a_header", _keys("misaligned-writes"), mpi="openmpi", ranks=2),
    Truth("reads_behind_a_header", _keys("misaligned-reads"), mpi="openmpi", ranks=2),
    Truth(
        "leaves_holes", _keys("data-sieving-new-data"), TIMED | _keys("collective-buffering-write"), mpi="mpich",
        ranks=2, certain=False,
    ),
    Truth(
        "exchanges_small_pieces", _keys("collective-exchange"), TIMED, mpi="mpich", ranks=2,
        hints=("romio_cb_write enable",), certain=False,
    ),
    Truth("gathers_from_memory", _keys("mpiio-overhead-write"), mpi="mpich", ranks=2, certain=False),
    Truth(
        "opens_each_step", _keys("collective-setup"), TIMED | _keys("metadata-storm", "small-writes"), mpi="openmpi",
        ranks=2, certain=False,
    ),
    Truth(
        "more_to_write", allowed=_keys("slow-rank-write"), mpi="openmpi", ranks=4, never_said=_NEVER_A_NODE,
        certain=False,
    ),
    Truth(
        "last_waits_for_the_device", _keys("slow-rank-write"), _keys("synchronous-writes"), mpi="openmpi", ranks=4,
        never_said=_NEVER_A_NODE, certain=False,
    ),
)  # fmt: skip
"""`computes` of four ranks writes so little that nothing about it is worth a line.

No run has a slow server: a file system of several servers would be needed, one of them slow. That finding is tried on
data sets that are written by hand (analysis/scenarios.py)."""
