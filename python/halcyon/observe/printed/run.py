"""One run, for people: what was lost first, then what is wrong, then the tables."""

from collections.abc import Callable
from dataclasses import replace
from statistics import median

from rich.console import Console
from rich.text import Text

from halcyon.observe.analysis.bandwidth import ALL, Bandwidth
from halcyon.observe.analysis.phases import IO, Phase
from halcyon.observe.printed.findings import many, print_findings, who
from halcyon.observe.printed.result import print_result
from halcyon.observe.printed.sparkline import room_for_lines, sparkline, time_axis
from halcyon.observe.report_tables import MOST_ROWS, Absence, ReportTables
from halcyon.observe.result_columns import Drawn, results_of
from halcyon.printed.paths import below, common_folder
from halcyon.printed.tables import console_for_tables, print_table
from halcyon.quantities import ABSENT, count, number, percent, plural, rate, seconds, size


def print_run(tables: ReportTables, console: Console | None = None) -> None:
    """Prints everything that fits a terminal; in colour on one, plain otherwise."""
    console = console or console_for_tables()
    _heading(tables, console)
    for name, (_, result) in results_of(type(tables)).items():
        if result.printed is Drawn.SPECIALLY:
            DRAWN[name](tables, console)
        elif result.printed is not None:
            print_result(console, result.printed, getattr(tables, name))


def _heading(tables: ReportTables, console: Console) -> None:
    info = tables.info
    if info.ended_badly:
        console.print(Text(info.ended_badly, style="bold red"), soft_wrap=True)
    console.print(Text(info.command or str(tables.directory), style="bold"), soft_wrap=True)
    if tables.counters_only:
        console.print(Text(COUNTERS_ONLY, style="bold yellow"), soft_wrap=True)
    elif not tables.calls:
        console.print("The source holds neither calls nor counters: there is nothing to look at.")
    parts = [
        f"recorded by {info.source}",
        plural(info.ranks, "rank") if info.ranks else plural(tables.processes, "process", "processes"),
        plural(tables.hosts, "node") if tables.hosts else None,
        seconds(tables.duration_s),
        plural(tables.calls, "call") if tables.calls is not None else None,
        f"{seconds(tables.io_s)} in the application's I/O calls (in sum over processes)" if tables.io_s else None,
        plural(tables.file_count, "file"),
    ]
    console.print(", ".join(part for part in parts if part), soft_wrap=True)
    if not tables.absences and tables.calls:
        console.print(Text("nothing was lost, cut short or left unseen", style="green"))
    for absence in tables.absences:
        console.print(Text(_absence(absence), style="bold red" if absence.what == "lost" else "yellow"), soft_wrap=True)
    if tables.setup_calls:
        note = f"{plural(tables.setup_calls, 'call')} of MPI's start and end left out"
        console.print(Text(note, style="dim"), soft_wrap=True)
    if tables.resolution_s > 2e-9:
        note = f"times that overlap are merged in steps of {seconds(tables.resolution_s)}"
        console.print(Text(note, style="dim"), soft_wrap=True)


COUNTERS_ONLY = (
    "Counters only: the source kept no single calls. Numbers are sums that it counted itself; "
    f"{ABSENT} stands for what it did not count."
)


def _absence(absence: Absence) -> str:
    words = {"lost": "lost", "partial": "cut short by its source", "not-seen": "could not be seen"}
    count = f" ({absence.count:,})" if absence.count is not None else ""
    where = f", in {plural(absence.processes, 'process', 'processes')}" if absence.processes else ""
    detail = f": {absence.detail}" if absence.detail else ""
    return f"{words.get(absence.what, absence.what)}: {absence.subject}{count}{where}{detail}"


def _bandwidths(tables: ReportTables, console: Console) -> None:
    names = {file.file: file.name for file in tables.files}
    rows = [
        (
            "whole run" if one.file is None else names.get(one.file, f"file {one.file}"),
            one.kind,
            size(one.bytes),
            rate(one.perceived_mpi),
            rate(one.effective_mpi),
            rate(one.effective_posix),
            rate(one.perceived_posix),
            f"{rate(one.perceived_posix_low)} – {rate(one.perceived_posix_high)}"
            if one.perceived_posix_low is not None and one.perceived_posix_high is not None
            else ABSENT,
        )
        for one in tables.bandwidths
        if one.kind != ALL or not _as_its_only(one, tables.bandwidths)
    ]
    heads = ("", "", "bytes", "MPI perceived", "effective", "POSIX effective", "perceived", "its bounds")
    bounds = sorted({one.bounds_from for one in tables.bandwidths if one.bounds_from})
    notes = [f"bounds from {' or '.join(bounds)}"] if bounds else []
    if any(one.posix_cut for one in tables.bandwidths):
        notes.append(f"POSIX {ABSENT}: the source cut these files' POSIX records short")
    print_table(console, "Bandwidth", heads, rows, words=2, most=MOST_ROWS, note="; ".join(notes))


def _as_its_only(whole: Bandwidth, each: list[Bandwidth]) -> bool:
    """Whether `whole`, of reads and writes together, says the same as one of the two."""
    return any(one.file == whole.file and one.kind != ALL and replace(one, kind=ALL) == whole for one in each)


def _phases(tables: ReportTables, console: Console) -> None:
    whose = many(who(tables))
    for kind in ("write", "read"):
        rows = [_phase(phase, tables.mpi) for phase in tables.phases[kind]]
        heads = ("phase", "from", "to", "bytes", whose, "fastest", "median", "slowest", "variation", "throughput")
        note = f"separated by pauses of more than {seconds(tables.phase_gap_s)}; fastest, median, slowest: their time "
        note += f"in I/O calls; throughput: bytes over that of the slowest {who(tables)}"
        print_table(console, f"Phases: {kind}", heads, rows, most=MOST_ROWS, note=note)


def _variability(tables: ReportTables, console: Console) -> None:
    """Where there is something to compare: several phases, or several ranks."""
    telling = [one for one in tables.variability if one.across_ranks is not None or one.across_phases is not None]
    if tables.variability and not telling:
        whose = "processes without MPI" if not tables.mpi and tables.processes > 1 else f"one {who(tables)}"
        console.print()
        console.print(Text(f"Variability: nothing to compare in one phase of {whose}", style="dim"), soft_wrap=True)
    note = (
        "processes are not compared: without MPI they need not do the same, nor wait for one another"
        if not tables.mpi and tables.processes > 1
        else ""
    )
    print_table(
        console,
        "Variability (without phases that moved next to nothing)",
        ("kind", "phases", "over ranks", "over phases", "slowest/median", "ranks waited"),
        [
            (
                "all I/O" if one.kind == IO else one.kind,
                str(one.phases),
                percent(one.across_ranks),
                percent(one.across_phases),
                number(one.max_over_median) if one.max_over_median is not None else ABSENT,
                seconds(one.waited_s) if one.waited_s is not None else ABSENT,
            )
            for one in telling
        ],
        note=note,
    )


def _phase(phase: Phase, mpi: bool) -> tuple[str, ...]:
    return (
        str(phase.number),
        seconds(phase.start_s),
        seconds(phase.end_s),
        size(phase.bytes),
        str(len(phase.ranks)),
        seconds(phase.seconds[0]),
        seconds(median(phase.seconds)),
        seconds(phase.seconds[-1]),
        percent(phase.variation if mpi else None),
        rate(phase.throughput),
    )


def _files(tables: ReportTables, console: Console) -> None:
    top = common_folder([one.path for one in tables.files[:MOST_ROWS]])
    rows = [
        (
            below(one.path, top),
            size(one.bytes_written),
            size(one.bytes_read),
            f"{one.writes + one.reads:,}",
            _share(one.small, one.writes + one.reads),
            _share(one.unaligned, one.writes + one.reads),
            f"{percent(one.pattern_share)} {one.pattern}" if one.pattern else ABSENT,
            f"{one.opens:,}",
            f"{len(one.ranks):,}",
            seconds(one.seconds),
        )
        for one in tables.files
    ]
    heads = (
        "file",
        "written",
        "read",
        "transfers",
        "small",
        "unaligned",
        "pattern",
        "opens",
        many(who(tables)),
        "time",
    )
    print_table(console, "Files", heads, rows, most=MOST_ROWS, note=f"in {top}" if top else "")


def _revisited(tables: ReportTables) -> tuple[dict[int, str], str]:
    """Names of the files of `rereads` and `cycles`, and a note on what was examined."""
    paths = {file.file: file.path for file in tables.files}
    concerned = {one.file for one in tables.rereads[:MOST_ROWS]} | {one.file for one in tables.cycles[:MOST_ROWS]}
    top = common_folder([paths[file] for file in concerned if file in paths])
    names = {file: below(path, top) for file, path in paths.items() if file in concerned}
    examined = f"{count(tables.examined_calls)} of {count(tables.candidate_calls)} calls examined"
    return names, examined + (f"; files in {top}" if top else "")


def _rereads(tables: ReportTables, console: Console) -> None:
    names, examined = _revisited(tables)
    rows = [
        (names.get(one.file, f"file {one.file}"), size(one.bytes), size(one.others_bytes), size(one.own_bytes))
        for one in tables.rereads
    ]
    heads = ("file", "read", "again, after others", "again, by the same")
    print_table(console, "Read again", heads, rows, most=MOST_ROWS, note=examined)


def _cycles(tables: ReportTables, console: Console) -> None:
    names, examined = _revisited(tables)
    rows = [
        (
            names.get(one.file, f"file {one.file}"),
            one.inside or "application",
            f"{one.cycles:,}",
            f"{one.locked:,}",
            size(one.bytes_read),
            seconds(one.read_s),
        )
        for one in tables.cycles
    ]
    heads = ("file", "made by", "cycles", "locked", "bytes read", "time of reads")
    print_table(console, "Read to be overwritten", heads, rows, words=2, most=MOST_ROWS, note=examined)


def _share(count: int | None, of: int) -> str:
    return ABSENT if count is None or not of else percent(count / of)


def _servers(tables: ReportTables, console: Console) -> None:
    known = tables.servers
    width = room_for_lines(console.width, 60)
    rows = [
        (
            one.name,
            f"{one.files:,}",
            size(one.bytes_written),
            size(one.bytes_read),
            rate(one.bandwidth_per_call),
            ABSENT
            if known.counted
            else sparkline(
                [read + written for read, written in zip(one.read, one.written, strict=True)],
                known.bin_s,
                tables.duration_s,
                width,
            ),
        )
        for one in known.servers
        if one.bytes
    ]
    notes = [
        f"busiest over mean: {number(known.imbalance)}" if known.imbalance is not None else None,
        "each file's bytes spread evenly over the servers that its extent reaches" if known.counted else None,
        f"{size(known.unknown_bytes)} of files whose servers are not known" if known.unknown_bytes else None,
    ]
    over_time = "load over time" if known.counted else time_axis(tables.duration_s, width)
    heads = ("server", "files", "written", "read", "per call", over_time)
    print_table(console, "Servers", heads, rows, most=2 * MOST_ROWS, note="; ".join(each for each in notes if each))


def _activity(tables: ReportTables, console: Console) -> None:
    known = tables.activity
    width = room_for_lines(console.width, 40)
    rows = [
        (
            one.kind,
            size(sum(one.bytes)),
            rate(max(one.bytes) / known.bin_s),
            sparkline(one.bytes, known.bin_s, tables.duration_s, width),
        )
        for one in known.series
        if any(one.bytes)
    ]
    note = f"as counted by {tables.info.source}, {known.module}" if known.counted and known.module else ""
    heads = ("", "bytes", "most", time_axis(tables.duration_s, width))
    print_table(console, "Bytes over time", heads, rows, note=note)


DRAWN: dict[str, Callable[[ReportTables, Console], None]] = {
    "findings": print_findings,
    "bandwidths": _bandwidths,
    "phases": _phases,
    "variability": _variability,
    "files": _files,
    "rereads": _rereads,
    "cycles": _cycles,
    "activity": _activity,
    "servers": _servers,
}
"""Tables whose texts depend on more than their rows, by name."""
