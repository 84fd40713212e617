"""A grammar, for people: first what the program does all the time, then its rules, then its call sites."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halcyon.predict.grammar_names import (
    Names,
    count_text,
    exponent_text,
    file_text,
    frames,
    has_places,
    own_frame,
    share_text,
    size_text,
)
from halcyon.predict.learnt import Learnt, Rule, Run, Spread, Symbol
from halcyon.predict.rule_costs import Cost, pause_text, rule_costs, run_cost
from halcyon.printed.tables import console_for_tables, print_lines
from halcyon.quantities import ABSENT, plural, rate, seconds, size

BODY = 16
"""Runs of a body that are told; of longer ones the beginning and the end."""
_END = 4
NARROWEST = 24
"""Columns for a body."""
READABLE = 100
"""Columns of a grammar that goes to a file or another program: bodies are text, and fill any width."""
RULES = 40
SYMBOLS = 40


def print_grammar(
    learnt: Learnt,
    *,
    everything: bool = False,
    stacks: bool = False,
    shorter: Learnt | None = None,
    console: Console | None = None,
) -> None:
    """Prints it. `shorter`: the same with counts left open, of which it is only said that it is shorter."""
    console = console or console_for_tables(READABLE)
    names, costs = Names(learnt), rule_costs(learnt)
    _heading(learnt, costs, console)
    if not learnt.length:
        console.print("No call was learnt.")
        return
    _rules(learnt, names, costs, everything, shorter, console)
    if learnt.kind == "model":
        _symbols(learnt, everything, console)
        if stacks:
            _stacks(learnt, console)


def _heading(learnt: Learnt, costs: dict[int, Cost], console: Console) -> None:
    of = f", thread {learnt.thread} (of 0 to {learnt.threads - 1})" if learnt.threads > 1 else ""
    console.print(Text(f"{learnt.path}{of}", style="bold"), soft_wrap=True)
    whole = costs[learnt.rules[0].number]
    parts = [plural(learnt.length, "call"), f"from {plural(len(learnt.symbols), 'call site')}"]
    if whole.lasts_ns:
        parts.append(f"in {seconds(whole.lasts_ns / 1e9)}, {seconds(whole.in_calls_ns / 1e9)} of it in the calls")
    console.print(", ".join([" ".join(parts[:2]), *parts[2:]]), soft_wrap=True)
    moved = ", ".join(_moved(learnt))
    if moved:
        console.print(moved)
    if learnt.phases is not None:
        console.print(_phases(learnt), soft_wrap=True)
    if learnt.unlearned:
        said = f"{plural(learnt.unlearned, 'call')} more found no room in the model's memory: what follows ends before"
        console.print(Text(said, style="yellow"), soft_wrap=True)


def _moved(learnt: Learnt) -> Iterator[str]:
    """`4.2 GB written by 300 calls at 1.2 GB/s`."""
    for operation, word in (("read", "read"), ("write", "written"), ("copy", "copied")):
        sites = [one for one in learnt.symbols if one.operation == operation and one.bytes]
        total = sum(one.bytes.mean * one.seen for one in sites if one.bytes)
        took = sum(_time_ns(one) for one in sites) / 1e9
        if sites:
            speed = f" at {rate(total / took)}" if took else ""
            yield f"{size(total)} {word} by {plural(sum(one.seen for one in sites), 'call')}{speed}"


def _phases(learnt: Learnt) -> str:
    phases = learnt.phases
    if phases is None or phases.calls is None or phases.interval_ns is None or phases.interval_ns.count < 2:
        return f"no phases: no pause was longer than {seconds(phases.pause_ns / 1e9)} twice" if phases else ""
    every = phases.interval_ns
    parts = [
        f"{plural(phases.calls.count, 'phase')}, one every {_time(every)} ± {seconds(every.deviation / 1e9)}",
        f"each {count_text(phases.calls.mean)} calls",
        size(phases.bytes.mean) if phases.bytes else "",
        f"{_time(phases.duration_ns)} long" if phases.duration_ns else "",
    ]
    return ", ".join(part for part in parts if part)


def _time(of: Spread) -> str:
    return seconds(of.mean / 1e9)


def _time_ns(symbol: Symbol) -> float:
    return symbol.seen * symbol.duration_ns.mean if symbol.duration_ns else 0.0


# --- rules ---


def _rules(
    learnt: Learnt, names: Names, costs: dict[int, Cost], everything: bool, shorter: Learnt | None, console: Console
) -> None:
    timed = bool(learnt.transitions)
    total = costs[learnt.rules[0].number].in_calls_ns
    shown = learnt.rules if everything else _heaviest(learnt.rules, costs)
    columns = ("used", "calls", *(("bytes", "in calls", "share", "lasts") if timed else ()))
    rows = [_figures(rule, costs[rule.number], total)[: len(columns)] for rule in shown]
    room = console.width - max(len("rule"), *(len(rule.name) + 2 for rule in shown)) - 3
    room -= sum(3 + max(len(name), *(len(row[at]) for row in rows)) for at, name in enumerate(columns))
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("rule", no_wrap=True)
    table.add_column("", overflow="fold")
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for rule, figures in zip(shown, rows, strict=True):
        body = _folded(body_text(learnt, rule, names, costs, everything), max(room, NARROWEST))
        table.add_row(f"{rule.name} →", Text(body), *figures)
    console.print()
    console.print(Text("Rules", style="bold"))
    for line in _rule_notes(learnt, len(shown), timed, shorter):
        console.print(Text(line, style="dim"), soft_wrap=True)
    print_lines(console, table)


def _figures(rule: Rule, cost: Cost, total_ns: float) -> list[str]:
    return [
        f"{rule.uses:,}",
        count_text(cost.calls),
        size(cost.bytes) if cost.bytes else ABSENT,
        seconds(cost.in_calls_ns / 1e9),
        share_text(rule.uses * cost.in_calls_ns / total_ns) if total_ns else ABSENT,
        seconds(cost.lasts_ns / 1e9),
    ]


def _rule_notes(learnt: Learnt, shown: int, timed: bool, shorter: Learnt | None) -> Iterator[str]:
    pauses = learnt.phases.pause_ns / 1e9 if learnt.phases else None
    yield "S is the whole input, x^9 is x nine times" + (
        f", [2.0 s] a pause between phases, of more than {seconds(pauses)}" if pauses is not None else ""
    )
    if timed:
        yield "the figures are of one use; share is of the time in all calls, by all uses together"
    if shown < len(learnt.rules):
        yield f"{shown} of {len(learnt.rules):,} rules, those that stand for most calls; --all prints all"
    if shorter is not None and len(shorter.rules) < len(learnt.rules):
        yield f"many differ in repetitions alone: with --loops there are {plural(len(shorter.rules), 'rule')}"


def _heaviest(rules: Sequence[Rule], costs: dict[int, Cost]) -> list[Rule]:
    """The RULES that stand for most calls, in their order."""
    by_weight = sorted(rules, key=lambda rule: -rule.uses * costs[rule.number].calls)
    kept = {rule.number for rule in by_weight[:RULES]} | {rules[0].number}
    return [rule for rule in rules if rule.number in kept]


def body_text(learnt: Learnt, rule: Rule, names: Names, costs: dict[int, Cost], everything: bool = True) -> list[str]:
    """Pieces that stay whole: `open out.%06d.dat`, `· write 96 B`, `· B^9`, `[2.0 s] close`.

    A file is named where it changes, a pause where it is one that separates phases.
    """
    pieces: list[str] = []
    left_out = range(0)
    if not everything and len(rule.body) > BODY:
        left_out = range(BODY - _END, len(rule.body) - _END)
    file, before = "", None
    for place, run in enumerate(rule.body):
        cost = run_cost(learnt, run, costs)
        if place in left_out:
            if place == left_out[0]:
                pieces.append(f"· … {len(left_out)} more")
            file = ""
        else:
            seam = "" if before is None else pause_text(learnt, before, cost.first)
            between = pause_text(learnt, cost.last, cost.first) if run.exponent > 1 else ""
            if seam and seam == between:
                seam, between = f"{seam} each", ""
            pieces.append(
                (f"[{seam}] " if seam else "· " if pieces else "")
                + _run_text(learnt, run, names, file)
                + (f" [{between} apart]" if between else "")
            )
            file = names.file(cost.last)
        before = cost.last
    return pieces


def _run_text(learnt: Learnt, run: Run, names: Names, file: str) -> str:
    if run.rule:
        text = learnt.rule[run.number].name
    else:
        text = names.symbol(run.number, with_file=names.file(run.number) != file)
    times = exponent_text(run)
    if not times:
        return text
    return f"{f'({text})' if ' ' in text else text}^{f'({times})' if ' ' in times else times}"


def _folded(pieces: Sequence[str], width: int) -> str:
    """Lines are broken between pieces; a piece that is longer than a line is broken by the table."""
    lines = [""]
    for each in pieces:
        piece = each
        if lines[-1] and len(lines[-1]) + 1 + len(piece) > width - 2:
            if piece.startswith("· "):
                lines[-1] += " ·"
                piece = piece.removeprefix("· ")
            lines.append("")
        lines[-1] += f" {piece}" if lines[-1] else piece
    return "\n".join(lines)


# --- call sites ---


def _symbols(learnt: Learnt, everything: bool, console: Console) -> None:
    symbols = learnt.symbols
    if not everything and len(symbols) > SYMBOLS:
        longest = sorted(symbols, key=lambda one: -_time_ns(one))[:SYMBOLS]
        symbols = [one for one in symbols if one in longest]
    total = sum(_time_ns(one) for one in learnt.symbols)
    told = any(has_places(one.stack) for one in learnt.symbols)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    for column in ("call", "file", "from"):
        table.add_column(column, overflow="fold")
    for column in ("seen", "bytes", "takes", "share"):
        table.add_column(column, justify="right", no_wrap=True)
    for one in symbols:
        table.add_row(
            str(one.number),
            one.function or one.operation or "no room for it",
            file_text(one) or ABSENT,
            own_frame(one.stack) or (f"context {one.context:08x}" if one.context and told else ABSENT),
            f"{one.seen:,}",
            size_text(one.bytes) or ABSENT,
            _time(one.duration_ns) if one.duration_ns else ABSENT,
            share_text(_time_ns(one) / total) if total else ABSENT,
        )
    console.print()
    console.print(Text("Call sites", style="bold"))
    if len(symbols) < len(learnt.symbols):
        note = f"{len(symbols)} of {len(learnt.symbols):,}, those that took most time; --all prints all"
        console.print(Text(note, style="dim"), soft_wrap=True)
    print_lines(console, table)
    if not told:
        said = "no call stacks are known; of a run recorded with --contexts, they would be"
        console.print(Text(said, style="dim"), soft_wrap=True)


def _stacks(learnt: Learnt, console: Console) -> None:
    console.print()
    console.print(Text("Call stacks, innermost first", style="bold"))
    for one in learnt.symbols:
        if one.stack:
            console.print(Text(f"#{one.number} {one.function or one.operation}"), soft_wrap=True)
            for frame in frames(one.stack):
                console.print(Text(f"    {frame}"), soft_wrap=True)
