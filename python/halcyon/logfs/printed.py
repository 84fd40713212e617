"""What is known of containers, in words and tables."""

from pathlib import Path

from rich.console import Console

from halcyon.logfs.conflicts import conflicts_in_words
from halcyon.logfs.tools import CheckReport, Figures, FileMap, PunchReport
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, count, number, percent, plural, size


def say(console: Console, text: str) -> None:
    """One line, however long; brackets in the names of files are no markup."""
    console.print(text, soft_wrap=True, markup=False)


def print_check(report: CheckReport, path: Path, console: Console, most: int) -> None:
    """The verdict, and everything that was found."""
    verdict = "sound" if report.is_sound else f"damaged ({plural(report.damages, 'finding')})"
    known = [
        verdict,
        size(report.size),
        plural(report.writers, "writer"),
        f"{count(report.open_writers)} of them did not close" if report.open_writers else "",
        f"{size(report.checked_bytes)} of data compared with their sums" if report.checked_bytes else "",
    ]
    say(console, f"{path}: {'; '.join(each for each in known if each)}")
    rows = [[each.weight, each.where, each.what, each.concerns] for each in report.findings]
    rows.sort(key=lambda row: _WORST_FIRST.index(row[0]))
    print_table(console, "findings", ["weight", "file", "finding", "concerns"], rows, words=4, most=most)


_WORST_FIRST = ("damage", "loss", "note")


def print_figures(of: Figures, path: Path, console: Console) -> None:
    """All figures of a container."""
    say(console, f"{path}: a container{' of PLFS' if of.is_plfs else ''}")
    closed = of.writers - of.open_writers
    rows = [
        ["size of the file", size(of.size)],
        ["in holes", size(of.hole_bytes)],
        ["written in all", size(of.written_bytes)],
        ["data on the device", size(of.data_blocks_bytes)],
        ["space amplification", ABSENT if of.space_amplification is None else number(of.space_amplification)],
        *([["dead data stay", of.why_not_given_back]] if of.why_not_given_back else []),
        ["durable", size(of.durable_bytes)],
        *([["on disks of nodes", f"{size(of.staged_bytes)}, on {', '.join(of.staged_on)}"]] if of.staged_on else []),
        ["index", size(of.index_bytes)],
        ["index, of the data written", percent(of.index_share)],
        ["writers", count(of.writers)],
        ["writers that closed", count(closed)],
        ["hosts", count(of.hosts)],
        ["writes", count(of.writes)],
        *([["of unclear order", size(of.conflict_bytes)]] if of.conflict_bytes else []),
        ["stretches in one piece", count(of.segments)],
        ["patterns", count(of.patterns)],
        ["single extents", count(of.extents)],
        ["memory of a reader", size(of.reader_bytes)],
    ]
    print_table(console, "figures", ["figure", "value"], rows)
    say_conflicts(path, of.conflict_bytes, console)


def say_conflicts(path: Path, conflict_bytes: int, console: Console, *, is_plain: bool = False) -> None:
    """What nobody can know of a file, if there is any. `is_plain`: a plain file was made of the container."""
    if conflict_bytes:
        say(console, conflicts_in_words(path, conflict_bytes, is_plain=is_plain))


def print_map(of: FileMap, path: Path, console: Console) -> None:
    """The parts of a file, in their order."""
    more = "" if of.is_whole else f"; the first {count(len(of))} of the range, --rows shows more"
    say(console, f"{path}: {size(of.size)}, {plural(len(of.writers), 'writer')}{more}")
    rows = []
    for start, length, physical, number_of in zip(
        of.start.tolist(), of.length.tolist(), of.physical.tolist(), of.writer.tolist(), strict=True
    ):
        by = of.writers[number_of] if number_of >= 0 else None
        where = "hole" if by is None else by.data
        rank = ABSENT if by is None else count(by.rank)
        at = ABSENT if by is None else count(physical)
        rows.append([where, count(start), count(start + length), size(length), rank, at])
    columns = ["data dropping", "from byte", "to byte", "length", "rank", "at its byte"]
    print_table(console, "parts", columns, rows, most=len(rows))


def print_punch(done: PunchReport, path: Path, console: Console) -> None:
    """What was given back."""
    if done.is_held:
        say(
            console,
            f"{path}: nothing was given back: a reader may still read the {size(done.dead_bytes)} that are dead; "
            "--wait waits for it",
        )
    else:
        say(console, f"{path}: {size(done.punched_bytes)} given back; {size(done.dead_bytes)} are dead in whole blocks")
