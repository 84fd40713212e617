"""`halcyon model dedicate`"""

import argparse
import sys
from typing import TYPE_CHECKING

from halcyon.errors import UsageError
from halcyon.verbs.model.option_types import above_zero, count, duration, share, zero_or_more

if TYPE_CHECKING:
    from halcyon.models.dedication import Efficiency, Machine

SUMMARY = "when a core, or a node, left to output pays"
DESCRIPTION = (
    "Compares output by all cores after computation with output by one core of each node, which does not compute "
    "(Dorier 2014, section 3.5.1). With --nodes, --dedicated-nodes, --max-watts and --idle-watts, also compares run "
    "time, power and energy of one dedicated core on each node with those of dedicated nodes (section 5.3); both then "
    "use the same number of nodes, and their output is taken as hidden behind computation."
)

_POWER = ("nodes", "dedicated_nodes", "max_watts", "idle_watts")
_MORE = ("iterations", "core_efficiency", "node_efficiency")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--cores", metavar="N", type=count, required=True, help="cores of a node")
    add("--compute", metavar="TIME", type=duration, required=True,
        help="computation of an iteration on all cores, such as 200s")  # fmt: skip
    add("--write", metavar="TIME", type=duration, required=True, help="output of an iteration by all cores")
    add("--dedicated-write", metavar="TIME", type=duration,
        help="output by the dedicated core, beside computation (default: shorter than that)")  # fmt: skip
    power = parser.add_argument_group("run time, power and energy")
    add = power.add_argument
    add("--nodes", metavar="N", type=count, help="nodes of the run, dedicated ones included")
    add("--dedicated-nodes", metavar="N", type=count, help="compare with so many dedicated nodes")
    add("--max-watts", metavar="W", type=above_zero, help="power of a node that computes")
    add("--idle-watts", metavar="W", type=zero_or_more, help="power of a node that does not")
    add("--iterations", metavar="N", type=count, help="of the run (default: 1)")
    add("--core-efficiency", metavar="E,E", type=_efficiencies,
        help="scalability of all cores of a node, and of one core fewer: shares above 0 up to 1, such as 0.80,0.81 "
        "(default: 1,1)")  # fmt: skip
    add("--node-efficiency", metavar="E,E", type=_efficiencies,
        help="scalability of all nodes, and of those without the dedicated ones (default: 1,1)")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print everything for machines, in SI units")


def _efficiencies(text: str) -> tuple[float, float]:
    words = text.split(",")
    if len(words) != 2:
        raise argparse.ArgumentTypeError(f"'{text}'; expected two shares, such as 0.80,0.81")
    return share(words[0]), share(words[1])


def run(arguments: argparse.Namespace) -> int:
    from halcyon.models.dedication import Iteration, dedicate
    from halcyon.models.printed.dedication import print_dedicated
    from halcyon.printed.plain import as_json
    from halcyon.printed.tables import console_for_tables

    if arguments.cores < 2:
        raise UsageError(f"--cores {arguments.cores}; expected 2 or more: one to dedicate, and others that compute")
    machine = _machine(arguments)
    iteration = Iteration(arguments.compute, arguments.write, arguments.cores, arguments.dedicated_write)
    told = dedicate(iteration, machine)
    if arguments.json:
        sys.stdout.write(as_json(told))
    else:
        print_dedicated(told, console_for_tables())
    return 0


def _machine(arguments: argparse.Namespace) -> "Machine | None":
    """None: no question about power."""
    from halcyon.models.dedication import Machine

    given = [name for name in (*_POWER, *_MORE) if getattr(arguments, name) is not None]
    missing = [name for name in _POWER if name not in given]
    if not given:
        return None
    if missing:
        raise UsageError(f"{_option(given[0])} goes with {', '.join(_option(name) for name in missing)}")
    if arguments.idle_watts > arguments.max_watts:
        raise UsageError(f"--idle-watts {arguments.idle_watts:g}; expected at most --max-watts {arguments.max_watts:g}")
    if arguments.dedicated_nodes >= arguments.nodes:
        raise UsageError(
            f"--dedicated-nodes {arguments.dedicated_nodes}; expected fewer than --nodes {arguments.nodes}"
        )
    return Machine(
        arguments.nodes,
        arguments.dedicated_nodes,
        arguments.max_watts,
        arguments.idle_watts,
        arguments.iterations or 1,
        _efficiency(arguments.core_efficiency),
        _efficiency(arguments.node_efficiency),
    )


def _efficiency(given: tuple[float, float] | None) -> "Efficiency":
    from halcyon.models.dedication import Efficiency

    return Efficiency(*given) if given else Efficiency()


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"
