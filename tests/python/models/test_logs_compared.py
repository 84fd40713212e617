"""Where logs win and lose against a shared file, and the load there (Wright 2014, table G.9)."""

from halcyon.models.logs_compared import compare_logs
from halcyon.models.measurements import MeasuredLogs, read_logs


def test_logs_win_up_to_512_ranks_and_lose_from_1024_on_and_load_3_lies_between() -> None:
    told = compare_logs(480, read_logs("wright:G.9"), per_node=16)
    assert told.last_win is not None
    assert told.first_loss is not None
    assert (told.last_win.expected.jobs, told.first_loss.expected.jobs) == (512, 1024)
    assert told.last_win.expected.load < 3 < told.first_loss.expected.load
    assert told.ranks_at_limit == 688
    assert told.limit_lies_between


def compared(*ratios: float) -> list[MeasuredLogs]:
    return [MeasuredLogs(4 << place, 1.0, ratio) for place, ratio in enumerate(ratios)]


def test_what_always_wins_or_loses_has_no_crossing() -> None:
    wins, loses = compare_logs(480, compared(2, 1)), compare_logs(480, compared(0.9, 2))
    assert (wins.first_loss, wins.last_win) == (None, wins.rows[1])
    assert (loses.first_loss, loses.last_win) == (loses.rows[0], None)
    assert not wins.limit_lies_between
    assert not loses.limit_lies_between
