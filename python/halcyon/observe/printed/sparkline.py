"""Load over time in one line of text, and the axis above it."""

from collections.abc import Sequence

from halcyon.quantities import seconds

_BARS = "·▁▂▃▄▅▆▇█"
"""The first is for nothing: a blank at the end of a line would be stripped, and move the line along its axis."""


def sparkline(values: Sequence[float], bin_s: float, whole_s: float, width: int) -> str:
    """`values` per `bin_s` from second 0 on, over `whole_s` seconds in `width` steps, each as high as its share of the
    highest. The values of a bin are spread evenly over it; what is beyond the end counts to the last step.
    """
    sums = [0.0] * width
    step_s = whole_s / width
    for number, value in enumerate(values):
        begin, end = number * bin_s / step_s, (number + 1) * bin_s / step_s
        for step in range(int(begin), int(end) + 1) if value else ():
            inside = min(end, step + 1) - max(begin, step)
            sums[min(step, width - 1)] += value * max(inside, 0.0) / (end - begin)
    top = max(sums)
    return "".join(_BARS[-(-round(8000 * each / top) // 1000)] if top else _BARS[0] for each in sums)


def time_axis(whole_s: float, width: int) -> str:
    """`0 s ──── 14.0 s`: the head of a column of lines."""
    end = seconds(whole_s)
    return f"0 s {'─' * max(width - len(end) - 5, 1)} {end}"


def room_for_lines(console_width: int, others: int) -> int:
    """How wide lines may be beside `others` characters of other columns."""
    return min(max(console_width - others, 20), 60)
