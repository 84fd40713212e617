"""Reads of what the same process overwrites next, by the application itself."""

import ibis
from ibis import _

from halcyon.database import question
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.volumes import READ
from halcyon.observe.findings.finding import Evidence, Finding, examined, found, time_spent
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import plural


def find(answers: Answers) -> list[Finding]:
    """One finding at most. Cycles inside MPI-IO are data sieving's (data_sieving.py)."""
    own = [one for one in answers.revisits.cycles if one.inside != Level.MPIIO]
    cycles = sum(one.cycles for one in own)
    if cycles < answers.settings.many_calls:
        return []
    library = any(one.inside == Level.HDF5 for one in own)
    locked = sum(one.locked for one in own)
    lock_s = sum(one.lock_s for one in own if one.locked)
    files = sorted({one.file for one in own})
    profile = answers.survey.profile
    reads, locks = _reads(profile, tuple(files)), _locks(profile, tuple(files))
    return found(
        answers,
        key="read-modify-write",
        concerned=reads,
        seconds_lost=sum(one.read_s for one in own) + lock_s,
        spent_s=time_spent(reads) + time_spent(locks),
        title="Data is read only to be overwritten",
        explanation=(
            "Processes read a range and overwrite it with their next transfer"
            + (f"; {plural(locked, 'cycle')} of {cycles:,} under a lock of the file." if locked else ".")
        ),
        change=(
            "Give HDF5 a chunk cache that holds the chunks in use (H5Pset_chunk_cache) and write whole chunks; or set "
            "H5Pset_alloc_time and H5Pset_fill_time so that new chunks need not be read."
            if library
            else "Write whole blocks or records; keep in memory what is written in parts; append in place of updating."
        ),
        estimate="time of these reads, and of the locks around them",
        calls=cycles,
        bytes=sum(one.bytes_read for one in own),
        evidence=[
            Evidence("cycle_count", "cycles", cycles),
            Evidence("locked_cycle_count", "cycles under a lock", locked),
            Evidence("read_bytes", "bytes read", sum(one.bytes_read for one in own)),
            Evidence("written_bytes", "bytes written", sum(one.bytes_written for one in own)),
            Evidence("read_s", "time in the reads", sum(one.read_s for one in own)),
            *examined(answers),
        ],
        files=files,
        ranks=sorted({rank for one in own for rank in one.ranks}),
    )


@question
def _reads(profile: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return profile.filter(_.file.isin(files) & (_.direction == READ))


@question
def _locks(profile: ibis.Table, files: tuple[int, ...]) -> ibis.Table:
    return profile.filter(_.file.isin(files) & _.kind.isin([Kind.LOCK, Kind.UNLOCK]))
