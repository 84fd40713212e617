"""Dedicated cores and nodes as text."""

import math

from rich.console import Console

from halcyon.models.dedication import Cost, Costs, Dedicated
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, number, percent, plural, seconds


def print_dedicated(told: Dedicated, console: Console) -> None:
    """An iteration with and without a dedicated core, and where it pays; then power and energy."""
    one = told.iteration
    print_table(
        console,
        f"An iteration on nodes of {plural(one.cores, 'core')}",
        ["", "computation", "output", "iteration"],
        [
            ["all cores compute, then write", seconds(one.compute_s), seconds(one.write_s), seconds(told.standard_s)],
            [
                "one core writes, the others compute",
                seconds(told.compute_s),
                seconds(one.dedicated_write_s),
                seconds(told.dedicated_s),
            ],
        ],
    )
    console.print()
    for line in _verdict(told):
        console.print(line, soft_wrap=True)
    if told.costs:
        _print_costs(told, told.costs, console)


def _verdict(told: Dedicated) -> list[str]:
    change = percent(abs(1 - told.dedicated_s / told.standard_s))
    if told.pays:
        first = f"a dedicated core pays: an iteration takes {change} less time"
    elif not math.isclose(told.dedicated_s, told.standard_s):
        first = f"a dedicated core does not pay: an iteration takes {change} more time"
    else:
        first = "a dedicated core does not pay: an iteration takes as long"
    here = _digits(told.io_over_computation), _digits(told.io_share_of_time)
    least = _digits(told.least_io_over_computation), _digits(told.least_io_share_of_time)
    lines = [
        first,
        f"output by all cores takes {here[0]} of the time of computation, {here[1]} of an iteration",
        f"a dedicated core whose output stays hidden pays above {least[0]} of computation, {least[1]} of an iteration",
    ]
    if not _hidden(told):
        lines.append("output by one core takes longer than computation by the others: they wait for it")
    return lines


def _print_costs(told: Dedicated, costs: Costs, console: Console) -> None:
    machine = costs.machine
    runs = {"dedicated cores": costs.dedicated_cores, "dedicated nodes": costs.dedicated_nodes}
    print_table(
        console,
        f"{plural(machine.iterations, 'iteration')} on {plural(machine.nodes, 'node')}, output hidden",
        ["", "nodes", "cores", "run time", "per node", "power", "energy"],
        [[name, *_row(cost)] for name, cost in runs.items()],
        note="nodes and cores that compute; mean power per node, and of all nodes",
    )
    cores, nodes = costs.dedicated_cores, costs.dedicated_nodes
    console.print()
    if not _hidden(told):
        console.print("output by dedicated cores is not hidden: their run takes longer than this", soft_wrap=True)
    console.print(
        f"dedicated nodes instead of dedicated cores: {_change(cores.run_time_s, nodes.run_time_s)} time, "
        f"{_change(cores.energy_j, nodes.energy_j)} energy",
        soft_wrap=True,
    )


def _row(cost: Cost) -> list[str]:
    return [
        f"{cost.nodes:,}", f"{cost.cores:,}", seconds(cost.run_time_s), f"{number(cost.node_power_w)} W",
        f"{number(cost.power_w / 1e3)} kW", f"{number(cost.energy_j / 3.6e6)} kWh",
    ]  # fmt: skip


def _change(before: float, after: float) -> str:
    if math.isclose(before, after):
        return "the same"
    return f"{percent(abs(after / before - 1))} {'less' if after < before else 'more'}"


def _digits(share: float | None) -> str:
    return ABSENT if share is None else f"{number(share * 100)} %"


def _hidden(told: Dedicated) -> bool:
    """Output beside computation, where a dedicated core writes."""
    return (told.iteration.dedicated_write_s or 0.0) <= told.compute_s
