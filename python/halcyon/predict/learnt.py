"""What a saved model knows: call sites, what follows on them, and the rules of the grammar of both."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Any

from halcyon.compiled import SavedModels, core
from halcyon.errors import ConfigError, HalcyonError, HalcyonSystemError, UsageError

START = 0
"""The rule that is the whole input."""
MAGIC = (b"HALCMODL", b"HALCGRAM")


@dataclass(frozen=True)
class Spread:
    """Statistics of what was learnt `count` times."""

    count: int
    least: int
    mean: float
    most: int
    deviation: int


@dataclass(frozen=True)
class Sizes:
    """Of the accesses of a call site, in bytes."""

    count: int
    least: int
    mean: float
    most: int
    distinct: int | None
    """None: too many to be told apart."""


@dataclass(frozen=True)
class Symbol:
    """A call site: where in the program, which function, what kind of file. Of a bare grammar: a number."""

    number: int
    seen: int
    """How often it occurs in the input."""
    context: int = 0
    """Number of the call stack; 0: not known."""
    stack: str = ""
    """Frames, innermost first."""
    function: str = ""
    operation: str | None = None
    """open, close, read, write, copy or sync; None: not known."""
    any_file: bool = False
    """It stands for all files, which were too many to be told apart."""
    file: str = ""
    """Pattern of the file's name: out.%06d.dat; "": not known."""
    bytes: Sizes | None = None
    duration_ns: Spread | None = None


@dataclass(frozen=True)
class Transition:
    """One call site right after another."""

    before: int
    after: int
    count: int
    gap_ns: Spread | None
    """From the end of the one call to the beginning of the other."""
    offsets: list[tuple[str, int]]
    """Where the second one accesses its file: from where, how many bytes from there; all that occur. Empty: unknown, or
    too many."""


@dataclass(frozen=True)
class Run:
    """A part of a rule's body: a symbol or rule, so many times."""

    rule: bool
    number: int
    exponent: float
    """A whole number; where counts are left open, their mean."""
    least: int | None = None
    """Where counts are left open."""
    most: int | None = None


@dataclass(frozen=True)
class Rule:
    """A sequence that occurs several times, or the start rule: all of the input."""

    number: int
    name: str
    body: tuple[Run, ...]
    uses: int
    """How often it occurs in the input."""


@dataclass(frozen=True)
class Phases:
    """Bursts of calls that are over, separated by pauses longer than `pause_ns`; intervals from begin to begin."""

    calls: Spread | None
    bytes: Spread | None
    duration_ns: Spread | None
    interval_ns: Spread | None
    pause_ns: int


@dataclass(frozen=True)
class Learnt:
    """What one thread's model knows."""

    path: Path
    kind: str
    """model, or grammar: then symbols are numbers of which nothing is known, and there are no transitions or phases."""
    thread: int
    threads: int
    """In the file."""
    length: int
    """Calls of the input."""
    unlearned: int
    """Calls for which there was no memory, and which the grammar does not tell."""
    symbols: list[Symbol]
    transitions: list[Transition]
    rules: list[Rule]
    """In the order of their first use, S first."""
    phases: Phases | None

    @cached_property
    def symbol(self) -> dict[int, Symbol]:
        """By number."""
        return {one.number: one for one in self.symbols}

    @cached_property
    def rule(self) -> dict[int, Rule]:
        """By number."""
        return {one.number: one for one in self.rules}

    @cached_property
    def transition(self) -> dict[tuple[int, int], Transition]:
        """By its two call sites."""
        return {(one.before, one.after): one for one in self.transitions}


def read_learnt(path: Path, thread: int | None = None) -> Learnt:
    """The model of one thread, by default of the one with most calls.

    ConfigError: the file is damaged, or none of models. UsageError: there is no such thread.
    """
    return _read(path, _saved(path), thread)


def _saved(path: Path) -> SavedModels:
    """What the file says; a pipe or device, which may never end, is not asked."""
    try:
        mode = path.stat().st_mode
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    if not (S_ISREG(mode) or S_ISDIR(mode)):
        raise ConfigError(f"{path}: no saved model: a pipe, socket or device; expected a file")
    saved = core().SavedModels(path)
    if not saved.threads:
        raise ConfigError(f"{path}: at byte 12: a file of models without any")
    return saved


def _read(path: Path, saved: SavedModels, thread: int | None) -> Learnt:
    if thread is None:
        thread = max(range(saved.threads), key=lambda one: (saved.length(one), -one))
    if not 0 <= thread < saved.threads:
        there = "only thread 0" if saved.threads == 1 else f"threads 0 to {saved.threads - 1}"
        raise UsageError(f"{path}: no thread {thread}; the file has {there}")
    return _learnt(path, saved, thread)


def _learnt(path: Path, saved: SavedModels, thread: int) -> Learnt:
    told = saved.thread(thread)
    phases = told["phases"]
    return Learnt(
        path=path,
        kind=saved.kind,
        thread=thread,
        threads=saved.threads,
        length=told["length"],
        unlearned=told["unlearned"],
        symbols=[_symbol(one) for one in told["symbols"]],
        transitions=[Transition(**one | {"gap_ns": _spread(one["gap_ns"])}) for one in told["transitions"]],
        rules=rules_from(told["rules"]),
        phases=None
        if phases is None
        else Phases(
            calls=_spread(phases["calls"]),
            bytes=_spread(phases["bytes"]),
            duration_ns=_spread(phases["duration_ns"]),
            interval_ns=_spread(phases["interval_ns"]),
            pause_ns=phases["pause_ns"],
        ),
    )


def _spread(told: dict[str, Any] | None) -> Spread | None:
    return None if told is None else Spread(**told)


def _symbol(told: dict[str, Any]) -> Symbol:
    if "context" not in told:  # of a bare grammar
        return Symbol(**told)
    sizes = told["bytes"]
    known = {"bytes": None if sizes is None else Sizes(**sizes), "duration_ns": _spread(told["duration_ns"])}
    return Symbol(**told | known)


def rules_from(told: list[dict[str, Any]]) -> list[Rule]:
    """Named, and in the order of their use."""
    rules = [Rule(number, "", tuple(Run(*run) for run in one["body"]), one["uses"]) for number, one in enumerate(told)]
    names = rule_names()
    return [replace(rules[number], name=next(names)) for number in _in_order_of_use(rules)]


def _in_order_of_use(rules: list[Rule]) -> list[int]:
    order: list[int] = []
    known: set[int] = set()
    to_come = [START]
    while to_come:
        number = to_come.pop()
        if number in known:
            continue
        known.add(number)
        order.append(number)
        to_come.extend(run.number for run in reversed(rules[number].body) if run.rule)
    return order


def rule_names() -> Iterator[str]:
    """S, then A to Z without S, then AA, AB …"""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    yield "S"
    number = 0
    while True:
        number += 1
        name, rest = "", number
        while rest:
            rest, letter = divmod(rest - 1, 26)
            name = letters[letter] + name
        if name != "S":
            yield name


def model_files(folder: Path) -> list[Path]:
    """The files of models in a folder, by name."""
    try:
        return sorted(path for path in folder.iterdir() if path.is_file() and _begins_as_model(path))
    except OSError as why:
        raise HalcyonSystemError.of(why, why.filename or folder) from why


@dataclass(frozen=True)
class Listed:
    """A file of models, in numbers; rules and call sites are those of the thread with most calls."""

    path: Path
    threads: int
    calls: int
    """Of all threads."""
    rules: int
    call_sites: int


def listed(folder: Path) -> tuple[list[Listed], list[HalcyonError]]:
    """The models of a folder, by name, and what is wrong with those that cannot be read."""
    found: list[Listed] = []
    wrong: list[HalcyonError] = []
    for path in model_files(folder):
        try:
            saved = _saved(path)
            learnt = _read(path, saved, None)
        except (ConfigError, HalcyonSystemError) as why:
            wrong.append(why)
            continue
        calls = sum(saved.length(thread) for thread in range(saved.threads))
        found.append(Listed(path, saved.threads, calls, len(learnt.rules), len(learnt.symbols)))
    return found, wrong


def _begins_as_model(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(8) in MAGIC
