"""`halcyon steer RUN [NAME=VALUE …]`"""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from halcyon.verbs.check import setting

if TYPE_CHECKING:
    from halcyon.insitu.steering import Steering

SUMMARY = "change parameters of a simulation that runs"
DESCRIPTION = (
    "Sets parameters that the configuration declares steerable: all ranks get the new values at the end of the same "
    "iteration. Without NAME=VALUE it lists these parameters with their values and bounds. To be called on the host of "
    "the run's first node, by the user whose run it is."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("directory", metavar="RUN", type=Path, help="directory of a run's output (holds run.json)")
    parser.add_argument("values", metavar="NAME=VALUE", nargs="*", type=setting, help="as in kappa=0.3")
    parser.add_argument(
        "--no-wait", action="store_true", help="return when the server has accepted it, before the iteration ends"
    )


def run(arguments: argparse.Namespace) -> int:
    from halcyon.insitu.steering import Steering

    with Steering(arguments.directory) as steering:
        if not arguments.values:
            _list(steering)
            return 0
        values = dict(arguments.values)
        request = steering.ask(values)
        wanted = ", ".join(f"{name} = {value:.12g}" for name, value in values.items())
        print(f"request {request} accepted: {wanted} when the iteration ends", flush=True)
        if arguments.no_wait:
            return 0
        for effect in steering.wait(request, values):
            later = f", by request {effect.request}, which came later" if effect.request != request else ""
            print(f"{effect.parameter} = {effect.value:.12g} from iteration {effect.iteration} on{later}")
    return 0


def _list(steering: "Steering") -> None:
    parameters = steering.parameters()
    width = max(len(parameter.name) for parameter in parameters)
    for parameter in parameters:
        asked = "" if parameter.asked is None else f"; {parameter.asked:.12g} when the iteration ends"
        bounds = f"{parameter.minimum:.12g} to {parameter.maximum:.12g}"
        print(f"{parameter.name:{width}} = {parameter.value:.12g} ({bounds}){asked}")
