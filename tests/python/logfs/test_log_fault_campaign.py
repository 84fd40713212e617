"""Some rounds of `make log-faults` under the library; those by the container's interface are a test of their own
(logfs_fault_campaign)."""

import pytest
from logfs.log_fault_campaign import LOGGED, PROGRAM, SUMMED, Way, play

pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="the campaign's program is not built")


@pytest.mark.parametrize("way", [LOGGED, SUMMED], ids=["plainly", "summed"])
def test_files_hold_what_programs_wrote_whoever_is_killed(way: Way) -> None:
    lines: list[str] = []
    status = play(way, ["--operations", 5000, "--kills", 40], lines.append)
    assert status == 0, "\n".join(lines)
    assert " kills, " in lines[-1]
