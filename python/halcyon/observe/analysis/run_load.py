"""What is kept of one run among many: a few kilobytes, whatever its size."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

from halcyon.observe.analysis.answers import Answers
from halcyon.observe.analysis.phase_sketch import PhaseSketch, sketch
from halcyon.observe.analysis.phases import Phase, Variability
from halcyon.observe.analysis.servers import Server, Servers
from halcyon.observe.analysis.settings import Settings
from halcyon.observe.engines import DUCKDB
from halcyon.observe.open_run import open_run
from halcyon.observe.schema import Kind

MOST_PHASES = 100
"""Of a run: those with the most bytes, in their order."""
MOST_RANKS = 64
"""Of a phase."""
SERVER_VALUES = 5_000
"""Steps of load over time, over all servers of a run."""

LAUNCHERS = ("mpirun", "mpiexec", "srun", "aprun", "jsrun")


@dataclass(frozen=True)
class RunLoad:
    """One run among many."""

    name: str
    """Its folder or file, from the folder that was searched."""
    user: str | None
    program: str | None
    job: str | None
    start: float | None
    """Seconds of the epoch; None: not known, the run has no place in pictures over time."""
    duration_s: float
    ranks: int
    calls: int | None
    """0: its source only counted."""
    bytes_read: int
    bytes_written: int
    io_s: float
    parameters: dict[str, str]
    servers: Servers
    """Those that had anything to do."""
    phases: list[PhaseSketch]
    """Its write phases; of a source without calls, none."""
    write_throughput: float | None
    """Bytes per second over its write phases, each by its slowest rank."""
    variability: list[Variability]

    @property
    def month(self) -> str | None:
        """Of its start, in UTC: 2026-11."""
        return None if self.start is None else datetime.fromtimestamp(self.start, UTC).strftime("%Y-%m")


def load_run(
    path: Path, name: str, engine: str = DUCKDB, settings: Settings | None = None, *, keep: bool = True
) -> RunLoad:
    """Opens a run in any form that open_run takes, and keeps what matters among many. `keep`, errors: see open_run."""
    with open_run(path, engine, keep=keep) as dataset:
        return run_load(name, Answers(dataset, settings))


def run_load(name: str, answers: Answers) -> RunLoad:
    """Of a run whose analyses are at hand."""
    info = answers.survey.dataset.info
    read, written = answers.bytes_moved
    phases = answers.phases_of[Kind.WRITE]
    spent = sum(max(phase.seconds, default=0.0) for phase in phases)
    return RunLoad(
        name=name,
        user=info.user,
        program=_program(answers),
        job=info.job,
        start=info.start,
        duration_s=answers.survey.end_ns / 1e9,
        ranks=answers.survey.ranks,
        calls=None if answers.counters_only else answers.survey.calls,
        bytes_read=read,
        bytes_written=written,
        io_s=answers.io_s,
        parameters=parameters_of(name, answers.facts, info.command or "") | {"ranks": str(answers.survey.ranks)},
        servers=_bounded(answers.servers),
        phases=_sketched(phases),
        write_throughput=sum(phase.bytes for phase in phases) / spent if spent > 0 else None,
        variability=answers.variability,
    )


def _program(answers: Answers) -> str | None:
    """Of its ranks, not of what started them; of a source without programs, the command's first word if it is one."""
    programs = sorted({rank.program for rank in answers.ranks if rank.program and rank.rank >= 0})
    words = [*programs, *(answers.survey.dataset.info.command or "").split()]
    name = PurePath(words[0]).name if words else None
    return None if name in LAUNCHERS else name


def _sketched(phases: list[Phase]) -> list[PhaseSketch]:
    heaviest = sorted(phases, key=lambda phase: -phase.bytes)[:MOST_PHASES]
    return [sketch(phase, MOST_RANKS) for phase in sorted(heaviest, key=lambda phase: phase.number)]


def _bounded(source: Servers) -> Servers:
    busy = [server for server in source.servers if server.bytes]
    bins = max((len(server.read) for server in busy), default=1)
    group = max(1, -(-bins * len(busy) * 2 // SERVER_VALUES))
    return replace(source, bin_s=source.bin_s * group, servers=[grouped(server, group) for server in busy])


def grouped(server: Server, group: int) -> Server:
    """The same load over time in steps `group` times as long."""
    return replace(
        server,
        read=[sum(server.read[at : at + group]) for at in range(0, len(server.read), group)],
        written=[sum(server.written[at : at + group]) for at in range(0, len(server.written), group)],
    )


_FACT = re.compile(r"(?:parameter|environment|mpi\.hint)\.(.+)")
_PAIR = re.compile(r"([A-Za-z][A-Za-z0-9]*)=([^,/_=]+)")


def parameters_of(name: str, facts: dict[str, str], command: str = "") -> dict[str, str]:
    """What a run in an experiment was given.

    Options of its command, its environment and MPI-IO hints as they were recorded, facts called `parameter.X`, and
    pairs `X=value` in the names of its folders; of the same name, the last of these counts.
    """
    told = {found[1]: value for key, value in facts.items() if (found := _FACT.fullmatch(key))}
    given = {key.removeprefix("parameter."): value for key, value in facts.items() if key.startswith("parameter.")}
    return options_of(command) | told | given | dict(_PAIR.findall(name))


def options_of(command: str) -> dict[str, str]:
    """`-n 4 --size=8 -v mode=own file` has -n, --size, -v (`yes`), mode, and the words: `word 1` is the program."""
    found: dict[str, str] = {}
    words = command.split()
    position = 0
    while words:
        word = words.pop(0)
        option, equals, value = word.partition("=")
        if equals and option:
            found[option] = value
        elif word.startswith("-") and len(word) > 1:
            found[word] = words.pop(0) if words and not words[0].startswith("-") and "=" not in words[0] else "yes"
        else:
            position += 1
            found[f"word {position}"] = word
    return found
