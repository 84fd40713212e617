"""What the processes of a run have learnt of their I/O, by the facts that the layer `predict` leaves of each."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_LOSSES = {
    "calls_without_room": (
        "call was not learnt: its thread's memory was full (--predict-memory)",
        "calls were not learnt: their thread's memory was full (--predict-memory)",
    ),
    "calls_missed": (
        "call was not learnt: a forecast of its thread took too long, or a jump broke its model",
        "calls were not learnt: a forecast of their thread took too long, or a jump broke its model",
    ),
    "calls_of_threads_beyond": (
        "call was not learnt: of a thread beyond the first 256 at a time",
        "calls were not learnt: of threads beyond the first 256 at a time",
    ),
    "threads_in_use_at_end": (
        "thread was learning when its process ended: its calls are not counted",
        "threads were learning when their process ended: their calls are not counted",
    ),
    "files_unnamed": ("file has no name in forecasts", "files have no name in forecasts"),
}
"""What was not learnt, in the words of predict_layer.cpp, and what to call one and several of it."""


@dataclass
class Learnt:
    """The sum over processes."""

    processes: int = 0
    untold: int = 0
    """Processes that did not tell how they ended: killed, or no longer able to write (after setuid or chroot)."""
    loaded: int = 0
    """Those that began with a saved model."""
    unsaved: int = 0
    """Those that should have saved theirs and did not."""
    counts: Counter[str] = field(default_factory=Counter)
    absences: Counter[str] = field(default_factory=Counter)
    """What no layer could see, by subject."""


def read_learnt(folder: Path) -> Learnt:
    """From the files of facts in `folder`, one for each process."""
    total = Learnt()
    for path in sorted(folder.glob("*.predict")):
        total.processes += 1
        ended = False
        counts: Counter[str] = Counter()
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(" ")
            if key == "absence":
                count, _, subject = value.partition(" ")
                total.absences[subject] += int(count)
            elif value.isdigit():
                counts[key] += int(value)
            else:
                ended |= key == "end" and value != "none"
                total.loaded += (key, value) == ("loaded", "yes")
                total.unsaved += (key, value) == ("saved", "no")
        if ended:  # else these are of the process' first call
            total.counts.update(counts)
        total.untold += not ended
    return total


def say_what_was_learnt(folder: Path) -> None:
    """On standard error: how much, and what was not."""
    learnt = read_learnt(folder)
    if learnt.processes == 0:
        print(
            "halcyon: no process learnt anything: none did I/O on files, or none could be seen. Static programs and "
            "those that change their user (setuid) cannot be",
            file=sys.stderr,
        )
        return
    if told := learnt.processes - learnt.untold:
        processes, calls = _some(told, "process", "processes"), _some(learnt.counts["calls_learnt"], "call")
        print(f"halcyon: {processes} learnt {calls}{_began(learnt)}", file=sys.stderr)
    if learnt.untold:
        ended = _some(learnt.untold, "process", "processes")
        it, its = ("it", "its") if learnt.untold == 1 else ("they", "their")
        print(
            f"halcyon: {ended} ended without saying how many calls {it} had learnt: killed, or {its} facts could not "
            "be written",
            file=sys.stderr,
        )
    if learnt.unsaved:
        models = "1 model was" if learnt.unsaved == 1 else f"{learnt.unsaved} models were"
        print(f"halcyon: {models} not saved", file=sys.stderr)
    for key, texts in _LOSSES.items():
        if learnt.counts[key]:
            print(f"halcyon: {_some(learnt.counts[key], *texts)}", file=sys.stderr)
    _say_what_was_read_ahead(learnt.counts)
    for subject, count in learnt.absences.items():
        print(f"halcyon: not seen: {count} {subject}", file=sys.stderr)


def _began(learnt: Learnt) -> str:
    if not learnt.loaded:
        return ""
    if learnt.processes == 1:
        return "; it began with a saved model"
    return f"; {_some(learnt.loaded, 'process', 'processes')} began with a saved model"


def _some(count: int, one: str, many: str | None = None) -> str:
    """Numbers without commas: scripts read these lines."""
    return f"{count} {one if count == 1 else many or one + 's'}"


_LEFT_ALONE = {
    "unsure": "were not sure enough",
    "contiguous": "followed one another, which the kernel reads ahead itself",
    "not_open": "were of files not known to be open",
    "unfit": "were past the page cache or of files in memory",
    "control": "were left alone for comparison",
    "reads_off": "came while it was off",
}
_OFF = {
    "off_no_gain": "it did not pay",
    "off_cached": "all was in memory already",
    "off_nothing": "there was nothing to read ahead",
    "off_no_thread": "the system had no thread for it",
}


def _say_what_was_read_ahead(counts: Counter[str]) -> None:
    """Nothing in a run without the layer `prefetch`."""
    told = {key.removeprefix("prefetch_"): count for key, count in counts.items() if key.startswith("prefetch_")}
    if not told:
        return
    unused = told["asked"] - sum(told[key] for key in ("in_time", "late", "cached", "failed"))
    print(
        f"halcyon: of {_some(told['reads'], 'read')} {_some(told['asked'], 'was', 'were')} asked for ahead: "
        f"{told['in_time']} came in time, {told['late']} late, {_some(told['cached'], 'was', 'were')} in memory, "
        f"{told['failed']} in vain, {unused} not used "
        f"({(told['asked_bytes'] - told['used_bytes']) / (1 << 20):.1f} MiB)",
        file=sys.stderr,
    )
    gain = (told["shorter_ns"] - told["longer_ns"]) / 1e9
    print(
        f"halcyon: reads took {abs(gain):.3f} s {'less' if gain >= 0 else 'more'} than those left alone would have let "
        f"expect; own work: {told['work_ns'] / 1e9:.3f} s",
        file=sys.stderr,
    )
    reasons = [
        _some(told[key], text.replace("were ", "was ", 1), text) for key, text in _LEFT_ALONE.items() if told[key]
    ]
    if reasons:
        print(f"halcyon: not read ahead: {', '.join(reasons)}", file=sys.stderr)
    times = [f"{_some(told[key], 'time')} since {text}" for key, text in _OFF.items() if told[key]]
    if times:
        print(f"halcyon: reading ahead was off for a while: {', '.join(times)}", file=sys.stderr)
