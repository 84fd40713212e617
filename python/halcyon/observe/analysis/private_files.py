"""Files that the MPI library keeps for itself beside one that the application opens.

Open MPI's MPI-IO has some: the shared file pointer (`…_cid-….sm`, `….lockedfile`), tests of locks (`….locktest.0`).
"""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Level


def private_files(survey: Survey) -> set[int]:
    """Those of which it is certain: all their calls were made by calls of MPI-IO on other files.

    No call of MPI-IO or HDF5 names them, and each call of MPI-IO that touches them names another file. Where a call
    names none (an open that failed), it could have been meant for them.
    """
    beside = _made_by_mpiio(survey.profile).to_pyarrow().column("file").to_pylist()
    if not beside:
        return set()
    return set(_of_other_files(survey.rows, tuple(sorted(beside))).to_pyarrow().column("file").to_pylist())


@question
def _made_by_mpiio(profile: ibis.Table) -> ibis.Table:
    above = [Level.MPIIO, Level.HDF5]
    each = profile.filter(_.file.notnull()).aggregate(
        by="file", own=(_.level.isin(above) | (_.parent_level != Level.MPIIO).fill_null(True)).any()
    )
    return each.filter(~_.own)


@question
def _of_other_files(calls: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    made = calls.filter(_.file.isin(files)).mutate(thread=_.thread.fill_null(-1))
    made = made.select("file", "process", "thread", number="parent").distinct()
    makers = calls.filter(_.level == Level.MPIIO).mutate(thread=_.thread.fill_null(-1))
    makers = makers.select("process", "thread", "number", of="file")
    both = made.left_join(makers, ["process", "thread", "number"]).aggregate(by="file", unsaid=_.of.isnull().any())
    return both.filter(~_.unsaid)
