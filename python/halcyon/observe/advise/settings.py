"""Settings that can be tried without touching the application: MPI-IO hints and parameters of Open MPI."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from halcyon.errors import UsageError
from halcyon.observe.mpi_library import PARAMETER
from halcyon.quantities import parse_bytes

_SWITCH = ("enable", "disable", "automatic")
_COUNT = "a whole number above 0"
_BYTES = "a size, such as 4194304 or 4MiB"

HINTS: dict[str, tuple[str, tuple[str, ...] | str]] = {
    "romio_ds_write": ("writes of a rank's own pieces: read, fill in and write back a longer range", _SWITCH),
    "romio_ds_read": ("reads of a rank's own pieces: read a longer range and pick them out", _SWITCH),
    "romio_cb_write": ("collective writes: ranks hand their pieces to a few aggregators", _SWITCH),
    "romio_cb_read": ("collective reads: a few aggregators read for all ranks", _SWITCH),
    "cb_nodes": ("how many aggregators collective calls have", _COUNT),
    "cb_buffer_size": ("an aggregator's buffer", _BYTES),
    "ind_wr_buffer_size": ("the longest range that data sieving writes at a time", _BYTES),
    "ind_rd_buffer_size": ("the longest range that data sieving reads at a time", _BYTES),
    "striping_factor": ("storage targets of a new file (Lustre and the like)", _COUNT),
    "striping_unit": ("stripe size of a new file (Lustre and the like)", _BYTES),
}
"""Hints of ROMIO, and of what is built on it (MPICH, MVAPICH, Intel MPI, Cray MPICH, Open MPI's romio components): what
each changes, and its values. Others are passed on as they are."""


@dataclass(frozen=True, order=True)
class Setting:
    """One hint (`romio_ds_write`) or, in capitals, one variable of the environment (`OMPI_MCA_io`), and its value."""

    name: str
    value: str

    def __str__(self) -> str:
        return f"{self.name}={self.value}"

    @property
    def is_hint(self) -> bool:
        """Of MPI-IO; else it is a variable of the environment."""
        return not self.name.isupper() and not self.name.startswith(PARAMETER)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Of `NAME=VALUE`. UsageError: it is none, or a value that a known hint cannot have."""
        name, equals, value = text.partition("=")
        if not equals or not value or not re.fullmatch(r"\w+", name):
            raise UsageError(f"--setting: '{text}'; expected NAME=VALUE, such as romio_ds_write=disable")
        return cls(name, _checked(name, value))


def _checked(name: str, value: str) -> str:
    if name not in HINTS:
        return value
    expected = HINTS[name][1]
    if expected == _BYTES:
        return str(parse_bytes(value, f"--setting {name}"))
    right = (value.isdigit() and int(value) > 0) if expected == _COUNT else value in expected
    if not right:
        wanted = expected if isinstance(expected, str) else ", ".join(expected)
        raise UsageError(f"--setting {name}: '{value}'; expected {wanted}")
    return value


def parse_settings(text: str) -> tuple[Setting, ...]:
    """Those that are tried together: `romio_cb_write=enable,cb_nodes=2`."""
    return tuple(Setting.parse(part) for part in re.split(r",(?=\w+=)", text))


def named(settings: Iterable[Setting]) -> str:
    """As one line for people."""
    return ", ".join(map(str, settings)) or "as it is"
