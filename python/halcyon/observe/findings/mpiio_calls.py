"""The calls of MPI-IO that a finding is about."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.schema import Level


@question
def calls_of(profile: ibis.Table, functions: tuple[str, ...]) -> ibis.Table:
    """Rows of Survey.profile."""
    return profile.filter((_.level == Level.MPIIO) & _.call.isin(functions))


@question
def files_of(calls: ibis.Table) -> ibis.Table:
    """The numbers of their files."""
    return calls.filter(_.file.notnull()).select("file").distinct()
