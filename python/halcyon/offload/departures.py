"""Everything in a run that was not the normal path, in sentences. A run's summary and report open with them."""

from dataclasses import dataclass

from halcyon.offload.run_directory import Run
from halcyon.quantities import plural, size

UNFINISHED = "unfinished"  # name of a gap: a writer or the simulation did not come to its end
NOTHING = "nothing dropped, spilled, skipped or switched"


@dataclass(frozen=True)
class Departure:
    """One kind of departure from the normal path. `count` is 0 for what cannot be counted."""

    name: str
    count: int
    text: str
    lost: bool  # data or an action did not arrive


_AT_MOST = {"waiting_actions"}  # the most of any server, not the sum
_BYTES = {"skipped_bytes", "spilled_bytes", "inlined_bytes", "unstored_bytes"}  # told beside their blocks

# name of the count: (one, many, what it means, whether something was lost); in order of weight
COUNTED: dict[str, tuple[str, str, str, bool]] = {
    "skipped_blocks": ("block", "blocks", "dropped because the buffer was full (policy skip)", True),
    "missing_blocks": ("block", "blocks", "missing in the files; readers find fill values", True),
    "rejected_blocks": ("block", "blocks", "rejected: offset, size or state made no sense", True),
    "failed_files": ("file", "files", "could not be written", True),
    "lost_files": ("file", "files", "deleted or moved while the run went on", True),
    "failed_actions": ("action", "actions", "failed", True),
    "skipped_actions": ("run", "runs", "of plugins that had been put aside", True),
    "plugins_aside": ("plugin", "plugins", "put aside: the process ended too often in a row", True),
    "ended_plugins": ("time", "times", "a plugin's process ended, or was ended, before its time", True),
    "unseen_blocks": ("block", "blocks", "stored, and out of memory before a plugin ran that would read them", True),
    "overflowed_values": ("value", "values", "became infinite in half precision", True),
    "lost_records": ("record", "records", "of times that are not there", True),
    "lost_signals": ("signal", "signals", "lost", True),
    "incomplete_iterations": ("iteration", "iterations", "stored incomplete", True),
    "dead_clients": ("client", "clients", "died", True),
    "server_restarts": ("time", "times", "a server died and was replaced", False),
    "spilled_blocks": (
        "block",
        "blocks",
        "sent through a spill file because the buffer was full (policy spill)",
        False,
    ),
    "inlined_blocks": ("block", "blocks", "stored by the simulation itself (inline)", False),
    "unstored_blocks": ("block", "blocks", "accepted and not stored: the configuration has no stores", False),
    "waiting_actions": ("action", "actions", "waited at once: events came faster than their actions ran", False),
    "unasked_bytes": ("byte", "bytes", "stored without the turn that `turns: coordinator` asks for", False),
    "early_parts": ("part", "parts", "of iterations stored early to make room", False),
}


def departures_of(run: Run) -> list[Departure]:
    """What the counts of all writers add up to, then what changed its mode, then what the directory lacks."""
    found = [departure for name in COUNTED if (departure := _of_count(run, name))]
    found += _unknown(run)
    found += _switches(run)
    found += [_of_gap(gap) for gap in run.gaps]
    return found


def mark_of(departures: list[Departure]) -> str:
    """What must be known of a run wherever it is named beside others: `[with losses]`, `[unfinished]`, both, or ""."""
    unfinished = any(departure.name == UNFINISHED for departure in departures)
    losses = any(departure.lost and departure.name != UNFINISHED for departure in departures)
    said = ["with losses"] * losses + ["unfinished"] * unfinished
    return f"[{', '.join(said)}]" if said else ""


def messages_of(run: Run) -> list[str]:
    """What servers and inline clients had to say, each with who said it."""
    return [f"{writer}: {message}" for writer, counts in run.counts.items() for message in counts.messages]


@dataclass(frozen=True)
class Verdict:
    """What to say first about some runs: their departures, or that they have none."""

    labels: list[str]
    departures: list[Departure]
    nothing: str | None
    calm: bool  # someone counted, and there was nothing to count


def verdicts_of(runs: list[tuple[str, Run, list[Departure]]]) -> list[Verdict]:
    """Runs with departures one by one, then those without, together where the same is to be said."""
    verdicts = [Verdict([label], departures, None, False) for label, _, departures in runs if departures]
    without: dict[str, Verdict] = {}
    for label, run, departures in runs:
        if not departures:
            text = nothing_happened(run)
            without.setdefault(text, Verdict([], [], text, text == NOTHING)).labels.append(label)
    return verdicts + list(without.values())


def keeps_counts(run: Run) -> bool:
    """Whether this run had anyone to count departures: output that Halcyon had no part in has not."""
    return bool(run.counts) or run.manifest.approach.startswith("halcyon")


def nothing_happened(run: Run) -> str:
    """What to print for a run without departures."""
    return NOTHING if keeps_counts(run) else f"approach {run.manifest.approach} keeps no counts"


def _of_gap(gap: str) -> Departure:
    if "has not finished" in gap:
        return Departure(UNFINISHED, 0, gap, lost=True)
    if "never closed" in gap:
        return Departure(UNFINISHED, 0, gap, lost=False)
    return Departure("gap", 0, gap, "recorded by" in gap)


def _of_count(run: Run, name: str) -> Departure | None:
    each = [getattr(counts, name) for counts in run.counts.values()]
    total = max(each, default=0) if name in _AT_MOST else sum(each)
    if not total:
        return None
    one, many, meaning, lost = COUNTED[name]
    bytes_name = name.replace("_blocks", "_bytes")
    held = sum(getattr(counts, bytes_name) for counts in run.counts.values()) if bytes_name in _BYTES else 0
    return Departure(name, total, f"{plural(total, one, many)}{f' ({size(held)})' if held else ''} {meaning}", lost)


def _unknown(run: Run) -> list[Departure]:
    totals: dict[str, float] = {}
    for counts in run.counts.values():
        for name, value in counts.unknown.items():
            totals[name] = totals.get(name, 0) + value
    return [Departure(name, int(total), f"{name}: {total:g}", False) for name, total in totals.items() if total]


def _switches(run: Run) -> list[Departure]:
    """Switches to another mode, those of the same kind together, with the time of the first."""
    switches = sorted(
        ((switch.at_ns, switch.what) for counts in run.counts.values() for switch in counts.switches),
    )
    times: dict[str, list[int]] = {}
    for at_ns, what in switches:
        times.setdefault(what, []).append(at_ns)
    return [Departure("switches", len(at), f"switched: {what}{_when(run, at)}", False) for what, at in times.items()]


def _when(run: Run, at_ns: list[int]) -> str:
    often = f" ({len(at_ns)} times)" if len(at_ns) > 1 else ""
    if not run.manifest.started_ns or at_ns[0] < run.manifest.started_ns:
        return often
    first = "first at" if len(at_ns) > 1 else "at"
    return f"{often}, {first} {(at_ns[0] - run.manifest.started_ns) * 1e-9:.1f} s"
