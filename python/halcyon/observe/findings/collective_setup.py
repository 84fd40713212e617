"""Opening and closing files together, and setting views: what it costs beside the data."""

from functools import cache

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.call_table import functions, mpiio_transfers, spellings_of
from halcyon.observe.findings.finding import Evidence, Finding, found
from halcyon.observe.findings.mpiio_calls import calls_of, files_of
from halcyon.observe.findings.mpiio_means import of_mpiio
from halcyon.observe.schema import Kind, Level
from halcyon.quantities import percent, plural

_SET_VIEW = "MPI_File_set_view"


@cache
def setup_functions() -> frozenset[str]:
    """Functions that all ranks call to open, size and close a file, and to set its view."""
    kinds = (Kind.OPEN, Kind.RESIZE, Kind.CLOSE)
    chosen = [one.name for one in functions().values() if one.collective and one.kind in kinds]
    return spellings_of(*chosen, _SET_VIEW)


def find(answers: Answers) -> list[Finding]:
    """One finding at most."""
    settings = answers.settings
    moving = mpiio_transfers(Kind.READ) | mpiio_transfers(Kind.WRITE)
    own = [one for one in answers.functions if one.level == Level.MPIIO and one.function in setup_functions()]
    data = [one for one in answers.functions if one.level == Level.MPIIO and one.function in moving]
    waited = sum(one.waited_s for one in answers.collectives.all if one.function in setup_functions())
    lost, data_s = sum(one.seconds for one in own) - waited, sum(one.seconds for one in data)
    if not own or lost < settings.setup_share * (lost + data_s):
        return []
    worst = max(own, key=lambda one: one.seconds)
    ranks = max(answers.survey.ranks, 1)
    if worst.calls < settings.setup_calls * ranks and lost < settings.grave_seconds * worst.calls:
        return []  # once for each file, and fast: the run hardly moves any data
    mine = calls_of(answers.survey.profile, tuple(one.function for one in own))
    files = files_of(mine).to_pyarrow().column("file").to_pylist()
    return found(
        answers,
        key="collective-setup",
        concerned=mine,
        seconds_lost=lost,
        spent_s=lost + waited,
        title="Opening files together and setting views takes longer than moving data",
        explanation=(
            f"{percent(lost / (lost + data_s))} of the time in MPI-IO passes in calls that open, close and set views, "
            f"most in {plural(worst.calls, 'call')} of {worst.function}. All ranks take part in each of them, and each "
            "asks the metadata servers or compares what the ranks gave."
        ),
        change=_change(answers, worst.function),
        estimate="time of these calls, less what ranks waited in them for the last one to come",
        calls=sum(one.calls for one in own),
        bytes=None,
        evidence=[
            Evidence("setup_share", "share of the time in MPI-IO", lost / (lost + data_s)),
            Evidence("setup_s", "time in these calls, without waiting", lost),
            Evidence("waited_s", "waiting for the last rank in them", waited),
            Evidence("data_s", "time in reads and writes of MPI-IO", data_s),
            *(
                Evidence(f"{one.function.removeprefix('MPI_File_')}_calls", f"calls of {one.function}", one.calls)
                for one in own
            ),
            Evidence("longest_s", f"most, in {worst.function}", worst.seconds),
        ],
        files=sorted(files)[:1000],
    )


def _change(answers: Answers, function: str) -> str:
    if function in spellings_of(_SET_VIEW):
        return (
            "Set the view once for each file, with a datatype that shows all of a rank's pieces; where only the offset "
            "changes, write with MPI_File_write_at_all and keep the view."
        )
    opened = (
        "Open each file once and keep it open over all steps; write several variables into one file; open files that "
        "one rank uses with MPI_COMM_SELF"
    )
    hint = (
        "; where all reads and writes are collective, set the MPI-IO hint romio_no_indep_rw=true, with which only the "
        "aggregators open the file"
    )
    return opened + of_mpiio(answers, romio=hint, ompio="") + "."
