"""Takes from an analysis what the viewer shows, and no more than a page can hold."""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, get_type_hints

from halcyon.observe.analysis.activity import Activity
from halcyon.observe.analysis.bandwidth import Bandwidth
from halcyon.observe.analysis.concurrency import Concurrency
from halcyon.observe.analysis.phase_sketch import SLOWEST, PhaseSketch, short, sketch
from halcyon.observe.analysis.run_load import grouped
from halcyon.observe.analysis.servers import Servers
from halcyon.observe.analysis.stragglers import Straggler
from halcyon.observe.recording.folder import run_of
from halcyon.observe.report_tables import ReportTables
from halcyon.observe.result_columns import results_of
from halcyon.observe.viewer import document as d

PHASE_VALUES = 300_000
"""Times of ranks in phases, over all phases: about 3 MB of the page."""
SERVER_VALUES = 200_000
"""Bins of activity, over all servers."""
MOST_RANGES = 6

Row = TypeVar("Row")


def document_of(tables: ReportTables) -> d.Document:
    """The document of a run, without its timeline."""
    results = {
        result.page: TAKEN[name](tables) if name in TAKEN else getattr(tables, name)
        for name, (_, result) in results_of(type(tables)).items()
        if result.page is not None
    }
    return d.Document(run=_run(tables), facts=_facts(tables), results=results)


def page_types(tables: type[ReportTables] = ReportTables) -> dict[str, Any]:
    """The types of a page's tables, by their names on it."""
    return {
        result.page: get_type_hints(TAKEN[name])["return"] if name in TAKEN else kind
        for name, (kind, result) in results_of(tables).items()
        if result.page is not None
    }


def _row(kind: type[Row], source: object, /, **given: Any) -> Row:
    """`kind` with what is given, and all else from the attributes of the same names."""
    names = [field.name for field in dataclasses.fields(kind) if field.name not in given]  # type: ignore[arg-type]
    return kind(**{name: getattr(source, name) for name in names}, **given)


def _run(tables: ReportTables) -> d.Run:
    info = tables.info
    return d.Run(
        title=info.job or run_of(tables.directory.absolute()).name,
        source=info.source,
        command=info.command,
        user=info.user,
        job=info.job,
        start_epoch_s=info.start,
        duration_s=info.duration_ns / 1e9 if info.duration_ns else tables.duration_s or None,
        ranks=info.ranks,
        processes=tables.processes,
        hosts=tables.hosts,
        files=tables.file_count,
        calls=tables.calls,
        filesystems=sorted({file.filesystem for file in tables.files if file.filesystem}),
        setup_calls=tables.setup_calls,
        ended_badly=tables.info.ended_badly,
        counters_only=tables.counters_only,
    )


def _facts(tables: ReportTables) -> list[d.Fact]:
    status = tables.info.exit_status
    told = [d.Fact("command.exit_status", str(status))] if status is not None else []
    return told + [d.Fact(key, value) for key, value in tables.facts.items()]


def _bandwidths(tables: ReportTables) -> list[Bandwidth]:
    """Of the run and of the files that are told."""
    told = {file.file for file in tables.files}
    return [one for one in tables.bandwidths if one.file is None or one.file in told]


def _concurrency(tables: ReportTables) -> Concurrency | None:
    source = tables.concurrency
    series = [dataclasses.replace(one, mean=[short(mean) for mean in one.mean]) for one in source.series]
    return Concurrency(source.bin_s, series) if series else None


def _activity(tables: ReportTables) -> Activity | None:
    return tables.activity if any(sum(one.bytes) for one in tables.activity.series) else None


def _phases(tables: ReportTables) -> list[PhaseSketch]:
    sources = [phase for own in tables.phases.values() for phase in own]
    most = max(2 * SLOWEST, PHASE_VALUES // max(1, len(sources)))
    return [sketch(phase, most) for phase in sources if phase.seconds]


def _stragglers(tables: ReportTables) -> list[Straggler]:
    return [one for own in tables.stragglers.values() for one in own]


def _files(tables: ReportTables) -> list[d.File]:
    files = sorted(tables.files, key=lambda file: file.file)
    return [_row(d.File, file, rank_count=len(file.ranks), ranks=_ranges(file.ranks)) for file in files]


def _ranges(values: Sequence[int]) -> str:
    """`0–63, 70`; beyond MOST_RANGES the rest is counted."""
    found: list[list[int]] = []
    for value in sorted(set(values)):
        if found and value == found[-1][1] + 1:
            found[-1][1] = value
        else:
            found.append([value, value])
    text = ", ".join(str(low) if low == high else f"{low}–{high}" for low, high in found[:MOST_RANGES])
    rest = sum(high - low + 1 for low, high in found[MOST_RANGES:])
    return f"{text} and {rest:,} more" if rest else text


def _servers(tables: ReportTables) -> Servers | None:
    source = tables.servers
    if not source.servers:
        return None
    bins = max(len(server.read) for server in source.servers)
    group = max(1, -(-bins * len(source.servers) * 2 // SERVER_VALUES))
    servers = [grouped(server, group) for server in source.servers]
    return dataclasses.replace(source, bin_s=source.bin_s * group, servers=servers)


TAKEN: dict[str, Callable[[ReportTables], Any]] = {
    "bandwidths": _bandwidths,
    "concurrency": _concurrency,
    "activity": _activity,
    "phases": _phases,
    "stragglers": _stragglers,
    "files": _files,
    "servers": _servers,
}
"""Tables of which a page holds less than there is, or in another form; the others are as they are."""
