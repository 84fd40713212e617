"""Answers of `halcyon model` as text; those of its question stripes are printed by `print_answer`."""

from rich.console import Console

from halcyon.models.logs_compared import LogsCompared
from halcyon.models.mix import Mix
from halcyon.models.placed import Placed
from halcyon.models.printed.loads import print_loads, print_logs, print_logs_compared
from halcyon.models.printed.placed import print_mix, print_placed
from halcyon.models.printed.requests import print_purchase, print_recommendation, print_sweep
from halcyon.models.stripes import LoadTable, Logs, Purchase, Recommendation
from halcyon.models.sweep import Sweep

Answer = LoadTable | Logs | LogsCompared | Recommendation | Purchase | Sweep | Mix | Placed


def print_answer(answer: Answer, console: Console) -> None:
    """Each in its own form."""
    match answer:
        case LoadTable():
            print_loads(answer, console)
        case Logs():
            print_logs(answer, console)
        case LogsCompared():
            print_logs_compared(answer, console)
        case Recommendation():
            print_recommendation(answer, console)
        case Purchase():
            print_purchase(answer, console)
        case Sweep():
            print_sweep(answer, console)
        case Mix():
            print_mix(answer, console)
        case Placed():
            print_placed(answer, console)
