"""One policy over another: where the storage is not full with one application, waiting is wrong (Dorier 2014, figures
6.10 b and 6.15), and `delay` costs less."""

from collections.abc import Iterator
from statistics import geometric_mean

from halcyon.delta.estimate import Estimate
from halcyon.delta.graph import Graph

SUMS = {"factors": "factors", "core_s": "core_seconds"}


def ratios(graph: Graph, policy: str, other: str, point: str) -> dict[int, Estimate]:
    """By delays at which both are met, and both applications are in I/O at a time by their times alone."""
    others = {one.dt_ns: one for one in graph.of(other) if one.met}
    return {
        one.dt_ns: getattr(one, point).over(getattr(others[one.dt_ns], point))
        for one in graph.of(policy)
        if one.met and one.dt_ns in others and graph.meet(one.dt_ns)
    }  # fmt: skip


def figures(graph: Graph, policy: str, other: str) -> Iterator[tuple[str, float, str]]:
    """At a delay of 0 with its upper end, and the geometric mean: below 1, `policy` is the better one."""
    for figure, point in SUMS.items():
        found = ratios(graph, policy, other, point)
        name = f"{policy}_over_{other}_{figure}".replace("-", "_")
        if 0 in found:
            yield f"{name}_at_0", found[0].mean, "ratio"
            yield f"{name}_at_0_upper_end", found[0].high, "ratio"
        if found:
            yield f"{name}_mean", geometric_mean(one.mean for one in found.values()), "ratio"
