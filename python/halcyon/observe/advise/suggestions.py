"""Settings that the findings of a recorded run suggest, each with what was seen that speaks for it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from halcyon.observe.advise.run_facts import RunFacts, run_facts
from halcyon.observe.advise.settings import Setting
from halcyon.observe.analysis.answers import Answers
from halcyon.observe.findings import Evidence, Finding, findings
from halcyon.observe.findings.data_sieving import where_at_work
from halcyon.observe.mpi_library import COLLECTIVE_METHOD, COMPONENT, SIEVING, Library, MpiIo
from halcyon.observe.recording.folder import run_of
from halcyon.quantities import percent, size

_Settings = tuple[Setting, ...]


@dataclass(frozen=True)
class Suggestion:
    """Settings to be tried together, and why. `finding`: the key of the finding behind it, where there is one."""

    settings: _Settings
    because: str
    finding: str | None = None
    evidence: list[Evidence] = field(default_factory=list)
    """What was seen in the calls."""


@dataclass(frozen=True)
class Advice:
    """What a recorded run suggests."""

    run: str
    """Its command; its folder where the source does not tell."""
    ended_badly: str | None
    """How the command failed; None: it did not, or nobody knows."""
    suggestions: list[Suggestion]
    beyond: list[Finding]
    """Findings that no setting reaches: they need a change of the program, or of the machine."""
    library: Library
    facts: RunFacts
    observed: list[str] = field(default_factory=list)
    """Sentences about what settings could change, and no finding asks for."""


def advise(answers: Answers) -> Advice:
    """Suggestions in the order of the findings' gravity, no settings twice."""
    facts = run_facts(answers)
    suggestions: dict[_Settings, Suggestion] = {}
    beyond = []
    for finding in findings(answers):
        every = list(_RULES[finding.key](facts)) if finding.key in _RULES else []
        own = [settings for settings in every if not facts.has(settings)]
        for settings in own:
            suggestions.setdefault(settings, Suggestion(settings, finding.title, finding.key, finding.evidence))
        if not own:
            beyond.append(finding)
    for one in _without_finding(facts):
        if not facts.has(one.settings):
            suggestions.setdefault(one.settings, one)
    observed = [] if any(one.finding in _SIEVED for one in suggestions.values()) else where_at_work(answers)
    dataset = answers.survey.dataset
    run = dataset.info.command or str(run_of(dataset.directory))
    return Advice(run, dataset.info.ended_badly, [*suggestions.values()], beyond, facts.library, facts, observed)


_SIEVED = ("data-sieving-new-data", "data-sieving", "data-sieving-small-pieces")


def _hints(**values: str) -> _Settings:
    return tuple(Setting(name, value) for name, value in values.items())


def _own_mpiio(facts: RunFacts) -> bool:
    """Open MPI's, which reads parameters and no hints."""
    return facts.mpiio == MpiIo.OMPIO


def _its_romio(facts: RunFacts) -> _Settings:
    return (Setting(COMPONENT, facts.library.romio_component),)


def _sieving(facts: RunFacts) -> Iterator[_Settings]:
    if _own_mpiio(facts):
        yield _its_romio(facts)
        yield (Setting(SIEVING, "0"),)
        return
    yield _hints(romio_ds_write="disable")
    yield from _longer_range(facts)


def _sieving_of_small_pieces(facts: RunFacts) -> Iterator[_Settings]:
    """The other way round: that they are slower one by one is expected, and measured all the same."""
    if _own_mpiio(facts):
        yield from _sieving(facts)
        return
    yield from _longer_range(facts)
    yield _hints(romio_ds_write="disable")


def _longer_range(facts: RunFacts) -> Iterator[_Settings]:
    if facts.number("ind_wr_buffer_size", 0) < _LONG_RANGE:
        yield _hints(ind_wr_buffer_size=str(_LONG_RANGE))


_LONG_RANGE = 4 << 20
"""Bytes: what ROMIO takes for reads; its 512 KiB for writes make eight times as many cycles."""


def _interleaved(direction: str) -> Callable[[RunFacts], Iterator[_Settings]]:
    def rule(facts: RunFacts) -> Iterator[_Settings]:
        if _own_mpiio(facts):
            if facts.collective[direction]:
                yield from ((Setting(COLLECTIVE_METHOD, method),) for method in facts.library.collective_methods)
            yield _its_romio(facts)
        elif facts.collective[direction]:
            yield _hints(**{f"romio_cb_{direction}": "enable"})
        elif facts.pieces_per_call[direction] >= 2:
            yield _hints(**{f"romio_ds_{direction}": "enable"})

    return rule


def _romio_instead(facts: RunFacts) -> Iterator[_Settings]:
    if _own_mpiio(facts):
        yield _its_romio(facts)


def _more_aggregators(facts: RunFacts) -> Iterator[_Settings]:
    if not _own_mpiio(facts) and facts.hosts > facts.number("cb_nodes", 1):
        yield _hints(cb_nodes=str(facts.hosts))


def _more_servers(facts: RunFacts) -> Iterator[_Settings]:
    if facts.lustre and not _own_mpiio(facts):
        yield _hints(striping_factor=str(max(4 * facts.servers, 4)))


def _whole_stripes(facts: RunFacts) -> Iterator[_Settings]:
    if facts.lustre and facts.collective["write"] and not _own_mpiio(facts):
        yield _hints(romio_cb_write="enable", striping_unit=str(4 << 20))


_RULES: dict[str, Callable[[RunFacts], Iterator[_Settings]]] = {
    "data-sieving-new-data": _sieving,
    "data-sieving": _sieving,
    "data-sieving-small-pieces": _sieving_of_small_pieces,
    "collective-buffering-write": _interleaved("write"),
    "collective-buffering-read": _interleaved("read"),
    "mpiio-overhead-write": _romio_instead,
    "mpiio-overhead-read": _romio_instead,
    "one-rank-writes": _more_aggregators,
    "one-rank-reads": _more_aggregators,
    "uneven-servers": _more_servers,
    "misaligned-writes": _whole_stripes,
}


_SMALL_PIECE = 64 << 10
"""Bytes. A longer piece is written by a call of its own in less time than the lock, the read and the copy take."""


def _pieces_one_by_one(facts: RunFacts) -> Iterator[Suggestion]:
    """Independent calls whose pieces are written (or read) by a call each: data sieving may be many times faster."""
    for direction, pieces in facts.pieces_per_call.items():
        if pieces < 2 or facts.collective[direction] or facts.piece_bytes[direction] > _SMALL_PIECE:
            continue
        seen = (
            f"an independent {direction} of MPI-IO makes {pieces:,.0f} transfers to the file, of "
            f"{size(facts.piece_bytes[direction])} each"
        )
        if _own_mpiio(facts):
            yield Suggestion(_its_romio(facts), f"{seen}; ROMIO can join them (data sieving)")
        elif facts.hints.get(f"romio_ds_{direction}") == {"disable"}:
            yield Suggestion(_hints(**{f"romio_ds_{direction}": "enable"}), f"{seen}, and data sieving is off")


_MOSTLY = 0.5
"""A larger share of collective calls' time than this outside of the file system is worth a trial. It is no finding:
it may be waiting for ranks that come late."""


def _without_finding(facts: RunFacts) -> Iterator[Suggestion]:
    yield from _pieces_one_by_one(facts)
    for direction, share in facts.outside.items():
        if share < _MOSTLY or _own_mpiio(facts):
            continue
        seen = f"{percent(share)} of the time of collective {direction}s passes outside of the file system"
        yield Suggestion(_hints(**{f"romio_cb_{direction}": "disable"}), seen)
        if facts.ranks > facts.number("cb_nodes", 1):
            yield Suggestion(_hints(cb_nodes=str(facts.ranks), cb_config_list="*:*"), seen)
