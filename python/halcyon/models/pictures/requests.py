"""Requests as pictures: bandwidth and load over the request (Wright 2014, figure 6.5), and targets to buy."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from halcyon.figures.axes import label_rate
from halcyon.figures.picture import INK, MUTED, SERIES, WIDTH_IN
from halcyon.models.printed.requests import advice
from halcyon.models.stripes import Purchase, Recommendation, load_table
from halcyon.quantities import percent, plural

_POINTS = 200


def draw_recommendation(told: Recommendation) -> Figure:
    """Bandwidth of a job above, targets in use and their load below; the request to use is marked in all."""
    figure = Figure(figsize=(WIDTH_IN * 0.75, 5.8), layout="constrained")
    bandwidth, load = figure.subplots(2, 1, sharex=True, height_ratios=(1.3, 1))
    jobs = f"{plural(told.jobs, 'job')} at once on {plural(told.total, 'storage target')}"
    figure.suptitle(f"{jobs}\n{advice(told).partition(':')[0]}", x=0.01, ha="left")
    draw_bandwidth(bandwidth, told)
    bandwidth.set_xlabel("")
    most = round(max(one.measured.request for one in told.curve) * 1.1)
    curve = load_curve(told.total, told.jobs, min(most, told.total))
    load.plot(curve[0], curve[1], color=SERIES[2], label="load, expected")
    if told.compared:
        load.plot(
            [one.expected.request for one in told.compared], [one.measured_load for one in told.compared], "o",
            color=SERIES[1], markersize=5, label="load, measured",
        )  # fmt: skip
    load.axvline(told.chosen.measured.request, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    load.set_ylabel("load")
    load.set_xlabel("stripes that each job requests")
    load.set_ylim(bottom=1)
    load.set_xlim(0, most)
    load.legend(loc="upper left", fontsize=8.5)
    return figure


def draw_bandwidth(axes: Axes, told: Recommendation) -> None:
    """Of a job by its request; the band is what may be lost."""
    requests = [one.measured.request for one in told.curve]
    rates = [one.measured.bytes_per_s for one in told.curve]
    best = told.fastest.measured.bytes_per_s
    axes.axhspan((1 - told.accepted_loss) * best, best, color=SERIES[0], alpha=0.12, linewidth=0)
    axes.plot(requests, rates, "o-", color=SERIES[0], markersize=5)
    chosen = told.chosen
    axes.axvline(chosen.measured.request, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    kept = f"{percent(chosen.bandwidth_share)} of the bandwidth"
    text = f"{chosen.measured.request} stripes: {kept},\nload {chosen.expected.load:.2f}"
    right = chosen.measured.request > max(requests) * 0.6
    axes.annotate(
        text, (chosen.measured.request, 0), (-8 if right else 8, 10), textcoords="offset points",
        ha="right" if right else "left", fontsize=8.5,
    )  # fmt: skip
    label_rate(axes.yaxis, rates, "bandwidth of a job")
    axes.set_ylim(0, best * 1.08)
    axes.set_title(f"bandwidth of a job; band: within {percent(told.accepted_loss)} of the fastest")
    axes.set_xlabel("stripes that each job requests")


def load_curve(total: int, jobs: int, most: int) -> tuple[list[float], list[float]]:
    """Load over requests from 1 to `most`."""
    requests = [1 + place * (most - 1) / _POINTS for place in range(_POINTS + 1)]
    return requests, [load_table(total, request, [jobs])[0].load for request in requests]


def draw_purchase(told: Purchase) -> Figure:
    """Both ways to keep the load: a smaller request, and more targets."""
    figure = Figure(figsize=(WIDTH_IN, 3.9), layout="constrained")
    smaller, larger = figure.subplots(1, 2, sharey=True)
    jobs = (
        f"{plural(told.jobs, 'job')} at once, {plural(told.request, 'stripe')} each, on {plural(told.total, 'target')}"
    )
    figure.suptitle(f"{jobs}: load {told.now.load:.2f}", x=0.01, ha="left")
    requests, loads = load_curve(told.total, told.jobs, min(round(told.request * 1.3) + 1, told.total))
    smaller.plot(requests, loads, color=SERIES[0])
    few, many = told.request, round(max(told.targets_for_limit, told.total) * 1.3) + 1
    targets = [few + round(place * (many - few) / _POINTS) for place in range(_POINTS + 1)]
    larger.plot(targets, [load_table(each, told.request, [told.jobs])[0].load for each in targets], color=SERIES[0])
    wanted = told.request_for_limit
    at_wanted = load_table(told.targets_for_limit, told.request, [told.jobs])[0].load
    _marked(smaller, told.load_limit, (told.request, told.now.load), (wanted.request, wanted.load))
    _marked(larger, told.load_limit, (told.total, told.now.load), (told.targets_for_limit, at_wanted))
    smaller.set_xlabel("stripes that each job requests")
    smaller.set_ylabel("load")
    smaller.set_title(f"{told.total:,} targets: request {wanted.request:,.0f}")
    larger.set_xlabel("storage targets")
    larger.set_title(f"request {told.request:,}: {told.targets_for_limit:,} targets")
    smaller.set_ylim(bottom=1)
    for axes in (smaller, larger):
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    return figure


def _marked(axes: Axes, limit: float, now: tuple[float, float], then: tuple[float, float]) -> None:
    axes.axhline(limit, color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)), label=f"load {limit:g}")
    axes.plot([now[0]], [now[1]], "D", color=INK, markersize=6, label="now")
    axes.plot([then[0]], [then[1]], "o", color=SERIES[1], markersize=7, label=f"keeps load {limit:g}")
    axes.legend(loc="best", fontsize=8.5)
