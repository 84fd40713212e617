"""The functions that Halcyon records: the table of which the recorder is made (src/calls/record/table*.def), looked up.

It belongs to this build: a trace carries the names, levels and kinds of its own functions.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from halcyon.compiled import core
from halcyon.observe.schema import Kind, Level


@dataclass(frozen=True)
class Function:
    """A row of the table."""

    name: str
    """As in its manual, and in the column `calls.call`."""
    level: Level
    kind: Kind
    argument: str
    """What the column `calls.argument` holds; empty: nothing."""
    collective: bool
    """Of MPI-IO: all processes that opened the file make the call (MPI 4.1, chapter 14)."""
    symbols: tuple[str, ...]
    """Names under which programs call it: for files of 64 bits, for checked buffers, for Fortran."""

    @property
    def direction(self) -> Kind | None:
        """Read or write, of functions that transfer data; the end of a split collective transfers what it began."""
        if self.kind in (Kind.READ, Kind.WRITE):
            return self.kind
        begun = functions().get(f"{self.name.removesuffix('_end')}_begin")
        return begun.direction if begun else None

    @property
    def nonblocking(self) -> bool:
        """It starts a transfer of MPI-IO and returns a request, with which the transfer completes."""
        return self.level == Level.MPIIO and self.direction is not None and self.argument == "request"

    @property
    def spellings(self) -> tuple[str, ...]:
        """Its name, its symbols, and names of MPI's profiling interface, by which other tools know it."""
        profiling = (f"P{symbol}" for symbol in self.symbols if symbol.startswith("MPI_"))
        return tuple(dict.fromkeys((self.name, *self.symbols, *profiling)))


@cache
def functions() -> dict[str, Function]:
    """All of them by name, in the table's order. UnavailableError: the compiled part of the package is missing."""
    rows = core().call_table()
    return {
        name: Function(name, Level(level), Kind(kind), argument, collective, symbols)
        for name, level, kind, argument, collective, symbols in rows
    }


@cache
def collective_functions() -> frozenset[str]:
    """Spellings of MPI-IO's functions that all processes of a file call together."""
    return _spellings(one for one in functions().values() if one.collective)


@cache
def collective_transfers() -> frozenset[str]:
    """Of these, the functions that transfer data."""
    return _spellings(one for one in functions().values() if one.collective and one.direction)


@cache
def mpiio_transfers(direction: str) -> frozenset[str]:
    """Spellings of MPI-IO's functions that read, or that write, but for nonblocking ones, which return before."""
    every = (one for one in functions().values() if one.level == Level.MPIIO and one.direction == direction)
    return _spellings(one for one in every if not one.nonblocking)


def spellings_of(*names: str) -> frozenset[str]:
    """All spellings of these functions."""
    return _spellings(functions()[name] for name in names)


def _spellings(chosen: Iterable[Function]) -> frozenset[str]:
    return frozenset(spelling for one in chosen for spelling in one.spellings)
