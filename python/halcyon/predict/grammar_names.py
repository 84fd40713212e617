"""Words for call sites, runs and call stacks."""

import re
from collections import Counter

from halcyon.predict.learnt import Learnt, Run, Sizes, Symbol
from halcyon.quantities import number, percent, size

_LIBRARIES = re.compile(
    r"(ld-linux|ld-|libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|libgfortran|libgomp|libmpi\w*|libmpich\w*|mca_\w+|"
    r"libopen-\w+|libpmix|libevent\w*|libuc[pst]|libfabric|libromio|libhdf5\w*|libnetcdf\w*|libpnetcdf|libadios2\w*|"
    r"libsz|libz|libpython[\d.]*|python[\d.]*|libhalcyon\S*)([-.]\S*)?"
)
"""What stands between an application and the system; all but what follows on its name's first dot or dash."""


def exact_size(value: float) -> str:
    """Whole KiB, MiB and GiB as such, all others in decimal: `4 KiB`, `4.10 kB`."""
    for unit, factor in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if value >= factor and value % factor == 0:
            return f"{value / factor:,.0f} {unit}"
    return size(value)


def size_text(sizes: Sizes | None) -> str:
    """`96 B`, `30 B to 4 KiB`; nothing where there are none."""
    if sizes is None:
        return ""
    if sizes.least == sizes.most:
        return exact_size(sizes.least)
    return f"{exact_size(sizes.least)} to {exact_size(sizes.most)}"


def file_text(symbol: Symbol) -> str:
    """Pattern of its files."""
    return "any file" if symbol.any_file else symbol.file


def frames(stack: str) -> list[str]:
    """Of a call stack, innermost first."""
    return stack.split()


def has_places(stack: str) -> bool:
    """Whether it is a call stack, and not the function that stands for one where a recording has none."""
    return any("+0x" in frame or "@" in frame for frame in frames(stack))


def own_frame(stack: str) -> str:
    """The innermost frame that is of the application, and of no library between it and the system.

    Of a stack of nothing but libraries: the innermost.
    """
    all_of_it = frames(stack)
    own = (frame for frame in all_of_it if not _LIBRARIES.fullmatch(_module(frame)))
    return next(own, all_of_it[0] if all_of_it else "")


def _module(frame: str) -> str:
    """Of `module+0x12`, and of what code_places makes of it."""
    return frame.rpartition("@")[2].partition("+0x")[0]


class Names:
    """Words for the call sites of one model: short, and never the same for two."""

    def __init__(self, learnt: Learnt) -> None:
        self._learnt = learnt
        by_operation = Counter(_words(symbol, symbol.operation) for symbol in learnt.symbols)
        by_function = Counter(_words(symbol, symbol.function) for symbol in learnt.symbols)
        self._verb: dict[int, str] = {}
        self._tagged: set[int] = set()
        for symbol in learnt.symbols:
            alone = by_operation[_words(symbol, symbol.operation)] == 1
            self._verb[symbol.number] = (symbol.operation if alone else symbol.function) or symbol.operation or ""
            if not alone and (not symbol.function or by_function[_words(symbol, symbol.function)] > 1):
                self._tagged.add(symbol.number)

    def symbol(self, number: int, *, with_file: bool = True) -> str:
        """`open out.%06d.dat`, `write 96 B`.

        Where two read the same it is their functions; with `#7`, the number, where these are the same, too.
        """
        symbol, verb = self._learnt.symbol[number], self._verb[number]
        if not verb:
            return f"#{number}"
        parts = [verb, file_text(symbol) if with_file else "", size_text(symbol.bytes)]
        if number in self._tagged:
            parts.append(f"#{number}")
        return " ".join(part for part in parts if part)

    def file(self, number: int) -> str:
        """Of a call site."""
        return file_text(self._learnt.symbol[number])


def _words(symbol: Symbol, verb: str | None) -> tuple[str | None, str, str]:
    return verb, file_text(symbol), size_text(symbol.bytes)


def exponent_text(run: Run) -> str:
    """`9`; where counts are left open `2 to 40`; nothing for 1."""
    if run.least is None or run.most is None or run.least == run.most:
        return "" if run.exponent == 1 else f"{run.exponent:.0f}"
    return f"{run.least} to {run.most}"


def count_text(value: float) -> str:
    """Whole numbers in full, means with three digits."""
    return f"{value:,.0f}" if value == round(value) or value >= 1000 else number(value)


def share_text(share: float) -> str:
    """Tenths of a percent at the least."""
    return percent(share) if share == 0 or share >= 0.001 else "< 0.1 %"
