"""Pictures of several applications at once: the surface over two delays, and the factors of each application."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure
from several import Point

from halcyon.figures.picture import INK, WIDTH_IN
from halcyon.figures.picture_file import save_picture


def draw_three(points: Sequence[Point], path: Path) -> None:
    """One panel for each policy: the sum of interference factors over the delays of B and of C after A."""
    save_picture(lambda: _surfaces(points), path)


def draw_eight(points: Sequence[Point], path: Path) -> None:
    """The interference factor of each application under each policy, and their sum."""
    save_picture(lambda: _factors(points), path)


def _surfaces(points: Sequence[Point]) -> Figure:
    policies = sorted({one.key.policy for one in points})
    figure = Figure(figsize=(WIDTH_IN, 3.0 * -(-len(policies) // 3)), layout="constrained")
    panels = list(figure.subplots(-(-len(policies) // 3), 3, squeeze=False).flat)
    values = [one.sum_of_factors.mean for one in points]
    for axes, policy in zip(panels, policies, strict=False):
        at = [(_delays_s(one), one.sum_of_factors.mean) for one in points if one.key.policy == policy]
        drawn = axes.scatter(
            [b for (b, _), _ in at], [c for (_, c), _ in at], c=[value for _, value in at], marker="s", s=420,
            vmin=min(values), vmax=max(values), cmap="viridis",
        )  # fmt: skip
        for (b, c), value in at:
            axes.annotate(f"{value:.1f}", (b, c), ha="center", va="center", color="white", fontsize=7)
        axes.set_title(policy)
        axes.set_xlabel("B starts after A, s")
        axes.set_ylabel("C starts after A, s")
        axes.margins(0.25)
    for axes in panels[len(policies) :]:
        axes.set_visible(False)
    figure.colorbar(drawn, ax=figure.axes, label="sum of interference factors")
    return figure


def _factors(points: Sequence[Point]) -> Figure:
    figure = Figure(figsize=(WIDTH_IN, 3.6), layout="constrained")
    axes = figure.subplots()
    names = list(points[0].factors)
    width = 0.8 / len(points)
    for i, point in enumerate(points):
        factors = [point.factors[name] for name in names]
        axes.bar(
            [k + (i - len(points) / 2) * width for k in range(len(names))], [one.mean for one in factors], width,
            yerr=[one.half or 0.0 for one in factors], ecolor=INK, align="edge",
            label=f"{point.key.policy} ({point.sum_of_factors.mean:.1f})",
        )  # fmt: skip
    axes.set_xticks(range(len(names)), names)
    axes.set_yscale("log")
    axes.set_ylabel("interference factor")
    axes.set_xlabel("application, the largest first")
    axes.legend(title="policy (sum of factors)", ncols=4)
    return figure


def _delays_s(point: Point) -> tuple[float, float]:
    """Of B and of C after A."""
    a, b, c = point.key.starts_ns
    return (b - a) / 1e9, (c - a) / 1e9
