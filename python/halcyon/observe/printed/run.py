"""One run, for people: what was lost first, then what is wrong, then the tables."""

from dataclasses import replace
from statistics import median

from rich.console import Console
from rich.text import Text

from halcyon.observe.analysis.bandwidth import ALL, Bandwidth
from halcyon.observe.analysis.phases import IO, Phase
from halcyon.observe.printed.findings import many, print_findings, who
from halcyon.observe.printed.paths import below, common_folder
from halcyon.observe.printed.sparkline import room_for_lines, sparkline, time_axis
from halcyon.observe.printed.tables import binary_size, console_for_tables, print_table
from halcyon.observe.report_tables import Absence, ReportTables
from halcyon.quantities import ABSENT, count, number, percent, plural, rate, seconds, size

MOST = 12
"""Rows of a table."""


def print_run(tables: ReportTables, console: Console | None = None) -> None:
    """Prints everything that fits a terminal; in colour on one, plain otherwise."""
    console = console or console_for_tables()
    _heading(tables, console)
    print_findings(tables, console)
    _bandwidths(tables, console)
    _times(tables, console)
    _functions(tables, console)
    _phases(tables, console)
    _access(tables, console)
    _files(tables, console)
    _revisits(tables, console)
    _metadata(tables, console)
    _activity(tables, console)
    _servers(tables, console)


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
    print_table(console, "Bandwidth", heads, rows, words=2, most=MOST, note="; ".join(notes))


def _as_its_only(whole: Bandwidth, each: list[Bandwidth]) -> bool:
    """Whether `whole`, of reads and writes together, says the same as one of the two."""
    return any(one.file == whole.file and one.kind != ALL and replace(one, kind=ALL) == whole for one in each)


def _times(tables: ReportTables, console: Console) -> None:
    rows = [
        (
            one.level,
            one.kind,
            f"{one.calls:,}",
            count(one.errors),
            size(one.bytes) if one.bytes else "",
            seconds(one.seconds),
            seconds(one.self_s),
            seconds(one.waited_s) if one.waited_s != 0 else "",
        )
        for one in tables.times
    ]
    heads = ("level", "kind", "calls", "failed", "bytes", "time", "own time", "waited")
    print_table(console, "Where the time went, in sum over processes", heads, rows, words=2, most=2 * MOST)


def _functions(tables: ReportTables, console: Console) -> None:
    rows = [
        (
            one.function,
            f"{one.calls:,}",
            seconds(one.seconds),
            *(
                percent(part / one.seconds) if one.seconds else ABSENT
                for part in (one.communicate_s, one.lock_s, one.read_s, one.write_s, one.unlock_s, one.other_s)
            ),
        )
        for one in tables.functions
    ]
    heads = ("function", "calls", "time", "communicate", "lock", "read", "write", "unlock", "other")
    print_table(console, "What MPI-IO and HDF5 calls are made of", heads, rows, most=MOST)
    parts = [
        (
            one.function,
            one.part,
            one.kind,
            f"{one.calls:,}",
            number(one.per_call),
            size(one.bytes) if one.bytes else "",
            seconds(one.seconds),
        )
        for one in tables.parts
    ]
    columns = ("function", "makes", "kind", "calls", "per call", "bytes", "time")
    print_table(console, "Calls that they make", columns, parts, words=3, most=MOST)


def _phases(tables: ReportTables, console: Console) -> None:
    whose = many(who(tables))
    for kind in ("write", "read"):
        rows = [_phase(phase, tables.mpi) for phase in tables.phases[kind]]
        heads = ("phase", "from", "to", "bytes", whose, "fastest", "median", "slowest", "variation", "throughput")
        note = f"separated by pauses of more than {seconds(tables.phase_gap_s)}; fastest, median, slowest: their time "
        note += f"in I/O calls; throughput: bytes over that of the slowest {who(tables)}"
        print_table(console, f"Phases: {kind}", heads, rows, most=MOST, note=note)
    _variability(tables, console)
    print_table(
        console,
        "Ranks that are slow again and again",
        ("kind", "rank", "node", "slow phases", "time/median", "bytes/median", "lost"),
        [
            (
                kind,
                str(one.rank),
                one.host or ABSENT,
                f"{one.slow_phases} of {one.phases}",
                number(one.factor),
                number(one.bytes_factor) if one.bytes_factor is not None else ABSENT,
                seconds(one.seconds_lost),
            )
            for kind, own in tables.stragglers.items()
            for one in own[:MOST]
        ],
        words=3,
    )


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


def _access(tables: ReportTables, console: Console) -> None:
    rows = [(one.level, one.kind, _from(one.lower), f"{one.calls:,}", size(one.bytes)) for one in tables.sizes]
    print_table(console, "Sizes", ("level", "kind", "from", "calls", "bytes"), rows, words=2)
    orders = [
        (one.kind, one.order, f"{one.pairs:,}", f"{one.calls:,}", size(one.bytes), seconds(one.seconds))
        for one in tables.orders
    ]
    heads = ("kind", "order", "process x file", "calls", "bytes", "time")
    print_table(console, "Order of each process in each file", heads, orders, words=2)
    shared = [
        (
            one.kind,
            one.approach,
            f"{one.shared_files:,}",
            size(one.shared_bytes),
            f"{one.single_files:,}",
            size(one.single_bytes),
        )
        for one in tables.sharing
    ]
    heads = ("kind", "approach", "shared files", "bytes", "single files", "bytes")
    print_table(console, "Who shares files", heads, shared, words=2)


def _from(lower: int) -> str:
    """Powers of two as such; Darshan's bins begin a byte after one, or after a round number of kibibytes."""
    return binary_size(lower) if lower and not lower & (lower - 1) else f"{lower:,} B"


def _files(tables: ReportTables, console: Console) -> None:
    top = common_folder([one.path for one in tables.files[:MOST]])
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
    print_table(console, "Files", heads, rows, most=MOST, note=f"in {top}" if top else "")


def _revisits(tables: ReportTables, console: Console) -> None:
    paths = {file.file: file.path for file in tables.files}
    concerned = {one.file for one in tables.rereads[:MOST]} | {one.file for one in tables.cycles[:MOST]}
    top = common_folder([paths[file] for file in concerned if file in paths])
    names = {file: below(path, top) for file, path in paths.items() if file in concerned}
    again = [
        (names.get(one.file, f"file {one.file}"), size(one.bytes), size(one.others_bytes), size(one.own_bytes))
        for one in tables.rereads
    ]
    examined = f"{count(tables.examined_calls)} of {count(tables.candidate_calls)} calls examined"
    examined += f"; files in {top}" if top else ""
    heads = ("file", "read", "again, after others", "again, by the same")
    print_table(console, "Read again", heads, again, most=MOST, note=examined)
    cycles = [
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
    columns = ("file", "made by", "cycles", "locked", "bytes read", "time of reads")
    print_table(console, "Read to be overwritten", columns, cycles, words=2, most=MOST, note=examined)


def _share(count: int | None, of: int) -> str:
    return ABSENT if count is None or not of else percent(count / of)


def _metadata(tables: ReportTables, console: Console) -> None:
    load = tables.metadata
    rows = [
        (
            one.kind,
            f"{one.calls:,}",
            count(one.errors),
            seconds(one.seconds),
            number(one.per_second),
            number(one.most_per_second) if one.most_per_second is not None else ABSENT,
        )
        for one in load.kinds
    ]
    note = f"{number(load.per_data_call)} per transfer" if load.per_data_call is not None else "no transfers"
    if load.buffered:
        note += f"; without {plural(load.buffered, 'call')} of readdir and the like, which the C library answers itself"
    if any(one.seconds is None for one in load.kinds):
        note += f"; {seconds(load.seconds)} in all metadata calls: the source does not tell which took how long"
    heads = ("kind", "calls", "failed", "time", "per second", "in the busiest second")
    print_table(console, "Metadata", heads, rows, note=note)


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
    print_table(console, "Servers", heads, rows, most=2 * MOST, note="; ".join(each for each in notes if each))


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
