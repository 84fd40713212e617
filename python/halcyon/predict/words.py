"""Words for a prediction, in the terminal and in the page."""

from collections.abc import Sequence

from halcyon.observe.schema import Level
from halcyon.predict.streams import Selection, Stream
from halcyon.quantities import plural, share

_LEVELS = {
    Level.STDIO: "stdio's reads and writes stand for what reached the files: the source tells no others",
    Level.MPIIO: "calls of MPI-IO are replayed: the source holds no transfers below them",
    Level.HDF5: "calls of HDF5 are replayed: the source holds no transfers below them",
}


def contexts(chosen: Selection) -> str:
    """What stands for the place in the program."""
    if not chosen.calls or not chosen.stacks:
        return "contexts: functions only"
    if chosen.stacks >= chosen.calls:
        return "contexts: call stacks"
    return f"contexts: call stacks of {share(chosen.stacks / chosen.calls)} of the calls, functions of the others"


def level_note(chosen: Selection) -> str:
    """Which calls were replayed instead of those that reach the file system; empty: these were."""
    return _LEVELS.get(Level(chosen.level), "")


def left_out(chosen: Selection) -> str:
    """What was not replayed, or not scored; empty: nothing."""
    parts = [
        f"{plural(chosen.failed, 'call')} that failed" if chosen.failed else "",
        f"{plural(chosen.without_times, 'call')} without a time" if chosen.without_times else "",
        f"the place of {plural(chosen.without_offset, 'transfer')} that nobody knows" if chosen.without_offset else "",
    ]
    told = [part for part in parts if part]
    return f"left out: {', '.join(told)}" if told else ""


def name_of(stream: Stream, streams: Sequence[Stream]) -> str:
    """`rank 3`, `process 3`, `rank 3, thread 1`; the thread is told where `streams` has several of the process."""
    name = f"rank {stream.rank}" if stream.rank is not None else f"process {stream.process}"
    several = any(one.process == stream.process and one != stream for one in streams)
    return f"{name}, thread {stream.thread}" if several or stream.thread else name
