"""With which flags processes opened their files: some make each write wait for the device."""

import os

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.survey import Survey
from halcyon.observe.schema import Kind, Level


def _opens(calls: ibis.Table) -> ibis.Table:
    """The opens whose flags the source tells."""
    return calls.filter(
        (_.level == Level.POSIX) & (_.kind == Kind.OPEN) & _.error.isnull() & _.argument.notnull() & _.file.notnull()
    )


def tells_flags(survey: Survey) -> bool:
    """Whether the source tells with which flags files were opened."""
    return len(_an_open(survey.rows).to_pyarrow()) > 0


@question
def _an_open(calls: ibis.Table) -> ibis.Table:
    return _opens(calls).select("file").limit(1)


def open_modes(survey: Survey) -> ibis.Table:
    """Per process and file that it opened to write: were most of these opens `synchronous`, and `direct`?

    `synchronous`: O_SYNC or O_DSYNC. `direct`: O_DIRECT. None of sources that do not tell flags. Flags are read with
    this machine's numbers: x86 and ARM number O_DIRECT differently.
    """
    return survey.keep("open_modes", _open_modes(survey.rows))


@question
def _open_modes(calls: ibis.Table) -> ibis.Table:
    opens = _opens(calls).filter((_.argument & os.O_ACCMODE) != os.O_RDONLY)
    each = opens.aggregate(
        by=["process", "file"],
        opens=_.count(),
        synchronous=((_.argument & (os.O_SYNC | os.O_DSYNC)) != 0).sum(),
        direct=((_.argument & os.O_DIRECT) != 0).sum(),
    )
    found = each.filter((2 * _.synchronous > _.opens) | (2 * _.direct > _.opens))
    return found.select(
        "process", "file", synchronous=2 * found.synchronous > found.opens, direct=2 * found.direct > found.opens
    )
