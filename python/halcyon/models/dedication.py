"""When a core, or a node, left to output pays (Dorier 2014, sections 3.5.1 and 5.3)."""

from dataclasses import dataclass

from halcyon.errors import UsageError
from halcyon.models.functions import functions


@dataclass(frozen=True)
class Iteration:
    """Seconds of computation and of output on all cores, and of output of the same data by one core of each node."""

    compute_s: float
    write_s: float
    cores: int
    """Of a node."""
    dedicated_write_s: float | None = None
    """None: it stays shorter than the computation beside it."""


@dataclass(frozen=True)
class Efficiency:
    """Scalability, above 0 up to 1: of all cores or nodes, and of those that are left without the dedicated ones."""

    all: float = 1.0
    left: float = 1.0


@dataclass(frozen=True)
class Machine:
    """Nodes, of which some may be dedicated, and the power of one, computing and idle."""

    nodes: int
    dedicated_nodes: int
    max_w: float
    idle_w: float
    iterations: int = 1
    core_efficiency: Efficiency = Efficiency()
    node_efficiency: Efficiency = Efficiency()


@dataclass(frozen=True)
class Cost:
    """Of a run in which output is hidden (eq. 5.1 to 5.4)."""

    cores: int
    """That compute on a node."""
    nodes: int
    """That compute."""
    dedicated_nodes: int
    run_time_s: float
    node_power_w: float
    """Mean over all nodes."""
    energy_j: float

    @property
    def power_w(self) -> float:
        """Of all nodes."""
        return self.node_power_w * (self.nodes + self.dedicated_nodes)


@dataclass(frozen=True)
class Costs:
    """With one core of each node dedicated, and with nodes dedicated."""

    machine: Machine
    dedicated_cores: Cost
    dedicated_nodes: Cost


@dataclass(frozen=True)
class Dedicated:
    """Eq. 3.2 and 3.3 of an iteration. Shares are of output by all cores."""

    iteration: Iteration
    standard_s: float
    """Computation, then output, on all cores."""
    compute_s: float
    """On one core fewer, with perfect scalability."""
    dedicated_s: float
    """The longer of that and of output beside it."""
    pays: bool
    io_over_computation: float | None
    """None: there is no computation."""
    io_share_of_time: float
    least_io_over_computation: float
    least_io_share_of_time: float
    costs: Costs | None


def dedicate(iteration: Iteration, machine: Machine | None = None) -> Dedicated:
    """UsageError: a value out of its bounds, an iteration without computation or output."""
    one, ask = iteration, functions()
    answer = ask.dedicate_one_core(one.compute_s, one.write_s, one.dedicated_write_s or 0.0, one.cores)
    if not answer.standard_s:
        raise UsageError("computation and output take 0 s; expected one of them above 0")
    least = ask.least_io_to_dedicate(one.cores)
    alone = ask.dedicate_one_core(one.compute_s, one.write_s, 0.0, one.cores)
    return Dedicated(
        iteration,
        answer.standard_s,
        alone.dedicated_s,
        answer.dedicated_s,
        answer.pays,
        one.write_s / one.compute_s if one.compute_s else None,
        one.write_s / answer.standard_s,
        least.over_computation,
        least.share_of_time,
        _costs(iteration, machine) if machine else None,
    )


def _costs(iteration: Iteration, machine: Machine) -> Costs:
    """`compute_s` is of all cores of all nodes, from which the time of one core follows (eq. 5.2)."""
    if not 1 <= machine.dedicated_nodes < machine.nodes:
        raise UsageError(
            f"dedicated nodes: {machine.dedicated_nodes}; expected 1 or more, and fewer than the {machine.nodes} nodes"
        )
    cores, nodes = iteration.cores, machine.nodes
    core, node = machine.core_efficiency, machine.node_efficiency
    one_core_s = iteration.compute_s * cores * core.all * nodes * node.all
    return Costs(
        machine,
        _cost(machine, one_core_s, (cores - 1, core.left), (nodes, node.all), 0),
        _cost(
            machine,
            one_core_s,
            (cores, core.all),
            (nodes - machine.dedicated_nodes, node.left),
            machine.dedicated_nodes,
        ),
    )


def _cost(
    machine: Machine, base_s: float, cores: tuple[int, float], nodes: tuple[int, float], dedicated_nodes: int
) -> Cost:
    """`cores`, `nodes`: how many compute, and their efficiency."""
    ask = functions()
    run = ask.ScaledRun(
        base_s=base_s,
        iterations=machine.iterations,
        cores=cores[0],
        core_efficiency=cores[1],
        nodes=nodes[0],
        node_efficiency=nodes[1],
    )
    return Cost(
        cores[0],
        nodes[0],
        dedicated_nodes,
        run.run_time_s,
        ask.mean_power_w(machine.max_w, machine.idle_w, nodes[0], dedicated_nodes),
        ask.energy_j(run, machine.max_w, machine.idle_w, dedicated_nodes),
    )
