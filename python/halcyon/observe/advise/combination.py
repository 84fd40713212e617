"""Several settings that each won: which of them can be in effect together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from halcyon.observe.advise.settings import Setting, named
from halcyon.observe.mpi_library import COMPONENT, OWN_MPIIO, ROMIO_COMPONENTS

_Settings = tuple[Setting, ...]

_WITHOUT_EFFECT = {
    "romio_ds_write=disable": r"ind_wr_buffer_size",
    "romio_ds_read=disable": r"ind_rd_buffer_size",
    "romio_cb_write=disable": r"cb_\w+",
    "romio_cb_read=disable": r"cb_\w+",
    f"{COMPONENT}=ompio": r"[a-z]\w*",
} | {f"{COMPONENT}={name}": rf"({'|'.join(OWN_MPIIO)})\w*" for name in ROMIO_COMPONENTS}
"""Names that mean nothing beside a setting: what they turn is switched off."""


@dataclass(frozen=True)
class Combination:
    """Settings that are tried together, of those that won alone."""

    settings: _Settings
    parts: list[_Settings]
    """Those that it is made of, the best one first."""
    apart: list[str]
    """Why others are not in it, a sentence each."""


def combine(won: Sequence[_Settings]) -> Combination:
    """Of settings that won, the best first: each is taken that contradicts none of those before it."""
    taken: list[_Settings] = []
    apart = []
    for own in won:
        objection = next((said for one in taken if (said := contradiction(one, own))), None)
        if objection is None:
            taken.append(own)
        else:
            apart.append(f"{named(own)} is not combined: {objection}")
    together: dict[Setting, None] = {one: None for own in taken for one in own}
    return Combination(tuple(together), taken, apart)


def contradiction(ones: _Settings, others: _Settings) -> str | None:
    """Why they cannot both be in effect; None: they can."""
    for one in ones:
        for other in others:
            if one.name == other.name and one.value != other.value:
                return f"{other} contradicts {one}"
            for switch, idle in ((one, other), (other, one)):
                if re.fullmatch(_WITHOUT_EFFECT.get(str(switch), r"\b\B"), idle.name):
                    return f"{idle.name} means nothing with {switch}"
    return None
