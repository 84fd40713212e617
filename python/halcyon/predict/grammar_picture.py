"""The rules of a grammar as a picture: a box for each rule, and from each use of a rule an edge to its box.

Where an edge begins stands how often the rule is repeated there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.path import Path as Curve
from matplotlib.textpath import TextToPath

from halcyon.figures.picture_file import save_picture
from halcyon.predict.grammar_layout import Box, Item, Layout, place
from halcyon.predict.grammar_names import Names, count_text, exponent_text, share_text
from halcyon.predict.learnt import Learnt, Rule, Run
from halcyon.predict.rule_costs import Cost, pause_text, rule_costs, run_cost
from halcyon.quantities import plural, seconds, size

RULES = 60
"""Boxes at most; of more rules those that stand for most calls."""
ROWS = 18
"""Of a box; of longer bodies the beginning and the end."""
_END = 4
_LONGEST = 44  # characters of a row

OPERATIONS = {
    "open": "#4c78a8",
    "close": "#8d99a6",
    "read": "#54a24b",
    "write": "#e45756",
    "copy": "#b279a2",
    "sync": "#eeb422",
}
_UNKNOWN = "#bab0ac"
_INK, _MUTED, _EDGE, _FRAME, _RULE, _HEAT = "#1f2933", "#66727f", "#7b8794", "#cbd2d9", "#eef1f4", "#c2410c"

# Points, of 1/72 inch.
_MARGIN, _GUTTER = 24.0, 84.0
_ROW, _HEAD, _PAD, _STRIP = 15.0, 37.0, 8.0, 5.0
_NAME_PT, _TEXT_PT, _SMALL_PT, _TITLE_PT = 11.0, 8.5, 7.5, 13.0
_TOP = 62.0
_SHARPEST_DPI, _MOST_PIXELS = 144.0, 16_000
_FONT = "DejaVu Sans"


@dataclass(frozen=True)
class _Row:
    text: str
    times: str
    note: str
    colour: str | None
    """None: a rule, or a remark."""
    rules: tuple[int, ...] = ()
    """What it points to."""
    remark: bool = False


@dataclass(frozen=True)
class _Card:
    """The contents of a rule's box."""

    rule: Rule
    figures: str
    share: float
    rows: list[_Row]


def draw_grammar(learnt: Learnt, path: Path) -> None:
    """Draws the rules into a file, of the format that its name ends in."""
    names, costs = Names(learnt), rule_costs(learnt)
    kept = _kept(learnt, costs)
    cards = {number: _card(learnt, learnt.rule[number], names, costs, kept) for number in kept}
    boxes = [_box(cards[number]) for number in kept]
    layout = place(boxes, _GUTTER)
    legend = [name for name in OPERATIONS if any(one.operation == name for one in learnt.symbols)]
    title, subtitle = _titles(learnt, costs, len(boxes))
    width = max(layout.width, _width(title, _TITLE_PT, bold=True), _width(subtitle, _SMALL_PT), 78.0 * len(legend))
    figure_size = width + 2 * _MARGIN, layout.height + _TOP + 2 * _MARGIN
    dpi = min(_SHARPEST_DPI, _MOST_PIXELS / (max(figure_size) / 72))

    def draw() -> Figure:
        figure = Figure(figsize=(figure_size[0] / 72, figure_size[1] / 72))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set_axis_off()
        axes.set_xlim(-_MARGIN, figure_size[0] - _MARGIN)
        axes.set_ylim(layout.height + _MARGIN, -_TOP - _MARGIN)
        _heading(axes, title, subtitle, legend)
        _edges(axes, layout, cards)
        for number, item in layout.boxes.items():
            _draw_card(axes, cards[number], item, next(box for box in boxes if box.key == number))
        return figure

    save_picture(draw, path, dpi)


def _titles(learnt: Learnt, costs: dict[int, Cost], drawn: int) -> tuple[str, str]:
    whole = costs[learnt.rules[0].number]
    thread = f", thread {learnt.thread}" if learnt.threads > 1 else ""
    parts = [plural(learnt.length, "call"), plural(len(learnt.rules), "rule")]
    if drawn < len(learnt.rules):
        parts[1] += f", of which {drawn} are drawn: those that stand for most calls"
    if whole.lasts_ns:
        parts += [size(whole.bytes), f"{seconds(whole.in_calls_ns / 1e9)} in calls"]
        parts.append("bars: share of that time, all uses together")
    return f"{learnt.path.name}{thread}: the loops of its I/O", "  ·  ".join(parts)


# --- contents ---


def _kept(learnt: Learnt, costs: dict[int, Cost]) -> list[int]:
    """From S on, always what stands for most calls of what those taken are made of."""

    def weight(number: int) -> float:
        return -learnt.rule[number].uses * costs[number].calls

    start = learnt.rules[0].number
    chosen: set[int] = set()
    to_come = [(weight(start), start)]
    while to_come and len(chosen) < RULES:
        _, number = heappop(to_come)
        if number not in chosen:
            chosen.add(number)
            for run in learnt.rule[number].body:
                if run.rule:
                    heappush(to_come, (weight(run.number), run.number))
    return [rule.number for rule in learnt.rules if rule.number in chosen]


def _card(learnt: Learnt, rule: Rule, names: Names, costs: dict[int, Cost], kept: Sequence[int]) -> _Card:
    cost, total = costs[rule.number], costs[learnt.rules[0].number].in_calls_ns
    figures = [f"{count_text(rule.uses)} ×", f"{count_text(cost.calls)} calls"]
    if learnt.transitions:
        figures += [size(cost.bytes)] if cost.bytes else []
        figures += [f"{seconds(cost.in_calls_ns / 1e9)} in calls", f"lasts {seconds(cost.lasts_ns / 1e9)}"]
    share = rule.uses * cost.in_calls_ns / total if total else 0.0
    return _Card(rule, "  ·  ".join(figures), share, _rows(learnt, rule, names, costs, set(kept)))


def _rows(learnt: Learnt, rule: Rule, names: Names, costs: dict[int, Cost], kept: set[int]) -> list[_Row]:
    rows: list[_Row] = []
    left_out = range(0)
    if len(rule.body) > ROWS:
        left_out = range(ROWS - _END - 1, len(rule.body) - _END)
    file, before = "", None
    hidden: dict[int, None] = {}
    for place_of, run in enumerate(rule.body):
        cost = run_cost(learnt, run, costs)
        if place_of in left_out:
            if run.rule and run.number in kept:
                hidden[run.number] = None
            if place_of == left_out[-1]:
                shown = {other for row in rows for other in row.rules}
                more = tuple(number for number in hidden if number not in shown)
                rows.append(_Row(f"… {len(left_out)} more", "", "", None, more, remark=True))
            file = ""
        else:
            seam = "" if before is None else pause_text(learnt, before, cost.first)
            if seam:
                rows.append(_Row(f"pause of {seam}", "", "", None, remark=True))
            rows.append(_row(learnt, run, cost, names, file, kept))
            file = names.file(cost.last)
        before = cost.last
    return rows


def _row(learnt: Learnt, run: Run, cost: Cost, names: Names, file: str, kept: set[int]) -> _Row:
    apart = pause_text(learnt, cost.last, cost.first) if run.exponent > 1 else ""
    times, note = exponent_text(run), f"{apart} apart" if apart else ""
    if run.rule:
        points_to = (run.number,) if run.number in kept else ()
        return _Row(learnt.rule[run.number].name, times, note, None, points_to)
    symbol = learnt.symbol[run.number]
    text = names.symbol(run.number, with_file=names.file(run.number) != file)
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]}…{text[-_LONGEST // 2 + 1 :]}"
    return _Row(text, times, note, OPERATIONS.get(symbol.operation or "", _UNKNOWN))


# --- sizes ---


def _width(text: str, points: float, *, bold: bool = False) -> float:
    font = FontProperties(family=_FONT, size=points, weight="bold" if bold else "normal")
    return float(TextToPath().get_text_width_height_descent(text, font, ismath=False)[0])


def _row_width(row: _Row) -> float:
    text = _width(row.text, _TEXT_PT, bold=bool(row.rules))
    times = _width(f"× {row.times}", _TEXT_PT, bold=True) + 14 if row.times else 0.0
    note = _width(row.note, _SMALL_PT) + 10 if row.note else 0.0
    return text + times + note


def _box(card: _Card) -> Box:
    head = max(_width(card.figures, _SMALL_PT), _width(card.rule.name, _NAME_PT, bold=True) + 70)
    width = max(head, *(_row_width(row) for row in card.rows)) + 2 * _PAD + _STRIP
    ports = [(_HEAD + (place_of + 0.5) * _ROW, other) for place_of, row in enumerate(card.rows) for other in row.rules]
    return Box(card.rule.number, width, _HEAD + len(card.rows) * _ROW + _PAD / 2, ports)


# --- drawing ---


def _write(axes: Axes, x: float, y: float, text: str, points: float, colour: str = _INK, **more: str) -> None:
    settings: dict[str, Any] = {"ha": "left", "va": "center_baseline", "family": _FONT, "parse_math": False} | more
    axes.text(x, y, text, fontsize=points, color=colour, **settings)


def _heading(axes: Axes, title: str, subtitle: str, legend: Sequence[str]) -> None:
    _write(axes, 0, -_TOP, title, _TITLE_PT, fontweight="bold")
    _write(axes, 0, -_TOP + 18, subtitle, _SMALL_PT, _MUTED)
    x = 0.0
    for name in legend:
        axes.add_patch(Rectangle((x, -_TOP + 31), 10, 10, facecolor=OPERATIONS[name], edgecolor="none"))
        _write(axes, x + 14, -_TOP + 36, name, _SMALL_PT)
        x += _width(name, _SMALL_PT) + 32
    axes.add_patch(Rectangle((x, -_TOP + 31), 10, 10, facecolor=_RULE, edgecolor=_EDGE, linewidth=0.7))
    _write(axes, x + 14, -_TOP + 36, "a rule", _SMALL_PT)


def _draw_card(axes: Axes, card: _Card, item: Item, box: Box) -> None:
    x, y = item.x, item.y
    frame = FancyBboxPatch(
        (x, y), box.width, box.height, boxstyle="round,pad=0,rounding_size=4", facecolor="white", edgecolor=_FRAME
    )
    axes.add_patch(frame)
    _write(axes, x + _PAD, y + 11, card.rule.name, _NAME_PT, fontweight="bold")
    if card.share:
        _share_bar(axes, card.share, x + box.width - _PAD - 62, y + 8)
    _write(axes, x + _PAD, y + 25, card.figures, _SMALL_PT, _MUTED)
    for number, row in enumerate(card.rows):
        _draw_row(axes, row, x, y + _HEAD + number * _ROW, box.width)


def _share_bar(axes: Axes, share: float, x: float, y: float) -> None:
    length = 30.0
    axes.add_patch(Rectangle((x, y), length, 6, facecolor=_RULE, edgecolor="none"))
    axes.add_patch(Rectangle((x, y), length * min(share, 1.0), 6, facecolor=_HEAT, edgecolor="none"))
    _write(axes, x + length + 4, y + 3, share_text(share), _SMALL_PT - 0.5, _MUTED)


def _draw_row(axes: Axes, row: _Row, x: float, top: float, width: float) -> None:
    middle = top + _ROW / 2
    if not row.remark:
        fill = row.colour or _RULE
        axes.add_patch(
            Rectangle((x + 1, top + 1), width - 2, _ROW - 2, facecolor=fill, alpha=0.13 if row.colour else 1.0)
        )
        strip = row.colour or _EDGE
        axes.add_patch(Rectangle((x + 1, top + 1), _STRIP - 1, _ROW - 2, facecolor=strip, edgecolor="none"))
    weight = "bold" if row.colour is None and not row.remark else "normal"
    style = "italic" if row.remark else "normal"
    colour = _MUTED if row.remark else _INK
    text_x = x + _STRIP + _PAD
    _write(axes, text_x, middle, row.text, _TEXT_PT, colour, fontweight=weight, fontstyle=style)
    if row.note:
        after = text_x + _width(row.text, _TEXT_PT, bold=weight == "bold") + 8
        _write(axes, after, middle, row.note, _SMALL_PT, _MUTED, fontstyle="italic")
    if row.times:
        _write(axes, x + width - _PAD, middle, f"× {row.times}", _TEXT_PT, fontweight="bold", ha="right")


def _edges(axes: Axes, layout: Layout, cards: dict[int, _Card]) -> None:
    rights = [left + width for left, width in zip(layout.lefts, layout.widths, strict=True)]
    for items in layout.columns:
        for item in items:
            right = rights[item.column]
            if item.lane:
                _line(axes, [(item.x, item.y + item.entry), (right, item.y + item.entry)])
            for at, other in item.ports:
                start = item.x + _box_width(item, cards, layout)
                if start < right and not item.lane:
                    _line(axes, [(start, item.y + at), (right, item.y + at)])
                _curve(axes, right, item.y + at, other.x, other.y + other.entry, arrow=not other.lane)


def _box_width(item: Item, cards: dict[int, _Card], layout: Layout) -> float:
    return layout.widths[item.column] if item.lane else _box(cards[item.box]).width


def _line(axes: Axes, points: Sequence[tuple[float, float]]) -> None:
    axes.add_patch(PathPatch(Curve(list(points)), facecolor="none", edgecolor=_EDGE, linewidth=0.9))


def _curve(axes: Axes, x: float, y: float, to_x: float, to_y: float, *, arrow: bool) -> None:
    end = to_x - (4.5 if arrow else 0)
    bend = (end - x) * 0.55
    points = [(x, y), (x + bend, y), (end - bend, to_y), (end, to_y)]
    codes = [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4]
    axes.add_patch(PathPatch(Curve(points, codes), facecolor="none", edgecolor=_EDGE, linewidth=0.9))
    if arrow:
        head = [(to_x, to_y), (end - 1, to_y - 2.8), (end - 1, to_y + 2.8), (to_x, to_y)]
        axes.add_patch(PathPatch(Curve(head), facecolor=_EDGE, edgecolor="none"))
