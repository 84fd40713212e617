"""Answers of the models as pictures."""

from pathlib import Path

from matplotlib.figure import Figure

from halcyon.models.logs_compared import LogsCompared
from halcyon.models.mix import Mix
from halcyon.models.pictures.histogram import draw_histogram
from halcyon.models.pictures.loads import draw_loads
from halcyon.models.pictures.logs import draw_logs, draw_logs_compared
from halcyon.models.pictures.requests import draw_purchase, draw_recommendation
from halcyon.models.pictures.sweep import draw_sweep
from halcyon.models.placed import Placed
from halcyon.models.printed import Answer
from halcyon.models.published.named import is_name
from halcyon.models.stripes import LoadTable, Logs, Purchase, Recommendation
from halcyon.models.sweep import Sweep
from halcyon.quantities import plural


def draw_answer(answer: Answer) -> Figure:
    """Each in its own form; within halcyon.figures.picture.drawing."""
    match answer:
        case LoadTable():
            return draw_loads(answer)
        case Logs():
            return draw_logs(answer)
        case LogsCompared():
            return draw_logs_compared(answer)
        case Recommendation():
            return draw_recommendation(answer)
        case Purchase():
            return draw_purchase(answer)
        case Sweep():
            return draw_sweep(answer)
        case Mix():
            return draw_histogram(answer.fit, f"Files of {plural(len(answer.jobs), 'job')}", "recorded")
        case Placed():
            return draw_histogram(answer.fit, _short(answer.source), "actual")


def _short(source: str) -> str:
    """Of a path, its last part."""
    return source if is_name(source) else Path(source).absolute().name
