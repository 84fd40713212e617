"""Traces that do not hold all calls, by which a time in I/O would be too short."""

from dataclasses import dataclass, field

import pytest

from halcyon.delta.io_time import missing_calls


@dataclass
class Trace:
    """As far as it is asked."""

    pid: int = 7
    program: bytes = b"/bin/dd"
    ended: str | None = "exit"
    lost: int = 0
    damages: list[str] = field(default_factory=list)
    files: list[tuple[int, bytes, int, int]] = field(default_factory=lambda: [(1, b"/data/a", 4096, 0)])


WHOLE = Trace()


def test_whole_traces_lack_nothing() -> None:
    assert missing_calls([WHOLE, Trace(ended="exec"), Trace(ended="abort")], "/data") is None


@pytest.mark.parametrize(
    ("traces", "said"),
    [
        ([Trace(lost=2), WHOLE, Trace(lost=3)], "5 calls were lost"),
        ([WHOLE, Trace(lost=1)], "1 call was lost"),
        ([WHOLE, Trace(damages=["chunk 3: wrong sum"])], "the trace of /bin/dd (7) is damaged: chunk 3: wrong sum"),
        ([WHOLE, Trace(ended=None)], "/bin/dd (7) was killed, or had not ended: calls of it may be missing"),
    ],
)
def test_calls_that_are_missing_are_told(traces: list[Trace], said: str) -> None:
    assert missing_calls(traces, "/data") == said


def test_a_process_without_files_below_the_path_may_be_killed() -> None:
    watchdog = Trace(ended=None, files=[(1, b"/var/log/a", 4096, 0)])
    assert missing_calls([WHOLE, watchdog], "/data") is None
    assert missing_calls([WHOLE, watchdog], "") is not None
