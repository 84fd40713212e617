"""What the processes of a run have learnt of their I/O, by the facts that the layer `predict` leaves of each."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

_LOSSES = {
    "calls_without_room": "calls were not learnt: their thread's memory was full (--predict-memory)",
    "calls_missed": "calls were not learnt: a forecast of their thread took too long, or a jump broke its model",
    "calls_of_threads_beyond": "calls were not learnt: of threads beyond the first 256 at a time",
    "threads_in_use_at_end": "threads were learning when their process ended: their calls are not counted",
    "files_unnamed": "files have no name in forecasts",
}
"""What was not learnt, in the words of predict_layer.cpp, and what to call it."""


@dataclass
class Learnt:
    """The sum over processes."""

    processes: int = 0
    killed: int = 0
    """Processes that left no end."""
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
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(" ")
            if key == "absence":
                count, _, subject = value.partition(" ")
                total.absences[subject] += int(count)
            elif value.isdigit():
                total.counts[key] += int(value)
            else:
                total.killed += (key, value) == ("end", "none")
                total.loaded += (key, value) == ("loaded", "yes")
                total.unsaved += (key, value) == ("saved", "no")
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
    processes = "1 process" if learnt.processes == 1 else f"{learnt.processes} processes"
    began = f", {learnt.loaded} of them with a saved model" if learnt.loaded else ""
    print(f"halcyon: {processes} learnt {learnt.counts['calls_learnt']} calls{began}", file=sys.stderr)
    if learnt.killed == 1:
        print("halcyon: 1 process was killed: what it learnt is lost", file=sys.stderr)
    elif learnt.killed:
        print(f"halcyon: {learnt.killed} processes were killed: what they learnt is lost", file=sys.stderr)
    if learnt.unsaved:
        models = "1 model was" if learnt.unsaved == 1 else f"{learnt.unsaved} models were"
        print(f"halcyon: {models} not saved", file=sys.stderr)
    for key, text in _LOSSES.items():
        if learnt.counts[key]:
            print(f"halcyon: {learnt.counts[key]} {text}", file=sys.stderr)
    for subject, count in learnt.absences.items():
        print(f"halcyon: not seen: {count} {subject}", file=sys.stderr)
