"""Two programs alone and together, in words and numbers."""

from dataclasses import asdict
from typing import Any

from rich.console import Console

from halcyon.printed.tables import print_table
from halcyon.quantities import percent, seconds
from halcyon.testbed.together import Compared, Round


def print_compared(compared: Compared, console: Console) -> None:
    """A row per round, the medians, and what speaks against them."""
    rows = [_row(str(i), one) for i, one in enumerate(compared.rounds, start=1)]
    print_table(
        console,
        "seconds in which a program moved data",
        ["round", "A alone", "A with B", "factor", "B alone", "B with A", "factor", "B again"],
        rows,
        words=0,
        most=len(rows),
    )
    share = compared.link_share
    console.print(
        f"\nA takes {compared.a_factor:.2f} times as long beside B, B {compared.b_factor:.2f} times as long beside A"
        + ("" if share is None else f"\nthe storage link used most carried {percent(share)} of its rate meanwhile"),
        soft_wrap=True,
    )
    for refusal in compared.refusals:
        console.print(f"\nrefused: {refusal}", soft_wrap=True)


def as_dict(compared: Compared) -> dict[str, Any]:
    """For machines, in SI units."""
    return {
        **asdict(compared),
        "a_factor": compared.a_factor,
        "b_factor": compared.b_factor,
        "link_share": compared.link_share,
        "refusals": compared.refusals,
    }


def _row(number: str, one: Round) -> list[str]:
    return [
        number,
        seconds(one.a_alone.moving_s), seconds(one.a.moving_s), f"{one.a_factor:.2f}",
        seconds(one.b_alone.moving_s), seconds(one.b.moving_s), f"{one.b_factor:.2f}", f"{one.control:.2f}",
    ]  # fmt: skip
