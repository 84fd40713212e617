"""A coordinator's state in words and tables."""

import pwd
from collections.abc import Sequence

from rich.console import Console

from halcyon.compiled import core
from halcyon.coordinate.state import Application, Decision, Top
from halcyon.printed.tables import print_table
from halcyon.quantities import ABSENT, count, number, percent, plural, rate, seconds, size


def print_top(told: Top, name: str, console: Console, most: int) -> None:
    """Who has the turn and who waits; then everything that was refused or lost."""
    load = told.load
    # As it was when somebody moved last: with nobody moving it says nothing.
    others = f"; writers without Halcyon take {percent(load.unseen_share)} of the bandwidth" if load.moving else ""
    rule = f"policy {load.rule}" + (f", which minimises {load.metric}" if load.rule == "dynamic" else "")
    console.print(
        f"{name}: {rule}; {plural(load.applications, 'application')}, {load.moving} moving, {load.waiting} waiting; "
        f"{rate(load.bytes_per_s)}{others}",
        soft_wrap=True,
    )
    words = core().coordinator
    ordered = sorted(told.applications, key=lambda one: (_place(one, words.STATES), -one.in_state_s))
    rows = [
        [
            one.job, one.state, _user(one.user), one.account, seconds(one.in_state_s),
            seconds(one.expected_wait_s) if one.state in ("waiting", "interrupted") else ABSENT,
            *((ABSENT, ABSENT) if one.state in _BETWEEN_PHASES
              else (seconds(one.left_s or None), size(one.bytes_left or None))),
            count(one.nodes), count(one.processes),
        ]
        for one in ordered
    ]  # fmt: skip
    columns = ["job", "state", "user", "account", "since", "expected wait", "time left", "bytes left", "nodes",
               "processes"]  # fmt: skip
    print_table(console, "applications", columns, rows, words=4, most=most)
    if told.reservations:
        held = [
            [one.job, _user(one.user), seconds(one.since_s), count(one.nodes or None), count(one.processes or None)]
            for one in told.reservations
        ]
        columns = ["job", "user", "since", "nodes", "processes"]
        print_table(console, "reserved by the batch system", columns, held, words=2, most=most)
    amiss = [entry.replace("_", " ") for entry in load.counts if entry.split(" ")[0] in words.FAULTS]
    if amiss:
        console.print(f"\nsince the epoch began: {', '.join(amiss)}", soft_wrap=True)


_BETWEEN_PHASES = ("may begin", "expected", "computing")
"""Nothing is left of a phase then; what the coordinator tells is of the next one."""


def _place(one: Application, states: Sequence[str]) -> int:
    """States that are not known, of a newer coordinator, come last."""
    return states.index(one.state) if one.state in states else len(states)


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def print_decisions(told: list[Decision], name: str, console: Console) -> None:
    """The latest decisions, oldest first, each with the predicted cost of its alternatives."""
    if not told:
        console.print(f"{name}: no decision has changed anything yet")
        return
    for one in told:
        console.print(f"{seconds(one.ago_s)} ago: {one.text}", soft_wrap=True)
        if one.jobs:
            believed = [
                f"{job} needs {seconds(left_s)} and {percent(demand)} of the storage"
                for job, left_s, demand in zip(one.jobs, one.left_s, one.demands, strict=False)
            ]
            if one.unseen_share:
                believed.append(f"writers without Halcyon take {percent(one.unseen_share)}")
            console.print(f"  believed, of each alone: {'; '.join(believed)}", soft_wrap=True)
        if one.ways:
            costs = ", ".join(f"{way} {number(cost)}" for way, cost in zip(one.ways, one.costs, strict=False))
            console.print(f"  predicted cost: {costs}", soft_wrap=True)
        if one.observed_cost >= 0:
            console.print(f"  observed cost: {number(one.observed_cost)}", soft_wrap=True)
