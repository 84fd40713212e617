"""The figures of a report: each is one function from a comparison of runs to a picture, or to why there is none."""

from collections.abc import Callable

from halcyon.figures.picture import Absent, Picture
from halcyon.offload.comparison import Comparison
from halcyon.offload.report.figures.distribution import distribution
from halcyon.offload.report.figures.iteration_time import iteration_time
from halcyon.offload.report.figures.phase_time import phase_time
from halcyon.offload.report.figures.scalability import scalability
from halcyon.offload.report.figures.server_time import server_time
from halcyon.offload.report.figures.throughput import throughput
from halcyon.offload.report.figures.write_times import write_times

FIGURES: dict[str, Callable[[Comparison], Picture | Absent]] = {
    "write times": write_times,
    "distribution": distribution,
    "phase time": phase_time,
    "iteration time": iteration_time,
    "server time": server_time,
    "throughput": throughput,
    "scalability": scalability,
}

__all__ = ["FIGURES", "Absent", "Picture"]
