"""Full disks and clocks that step under the daemon."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from coordinator_process import RELEARNING, CoordinatorProcess, wait_until
from scripted_agents import has_turn, heard, run_until
from stepping_clock import SteppingClock
from test_turns import holder_and_waiter

Prepare = Callable[..., CoordinatorProcess]
HOUR_S = 3600
DAY_S = 24 * HOUR_S


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    if os.geteuid() != 0:
        pytest.skip("a small file system needs root")
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=False)
    if mounted.returncode:
        pytest.skip("cannot mount a file system here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(disk: Path) -> None:
    with (disk / "filler").open("ab", buffering=0) as filler:
        left = os.statvfs(disk)
        filler.write(bytes(left.f_bavail * left.f_frsize))
    assert os.statvfs(disk).f_bavail == 0


def test_a_daemon_whose_disk_is_full_gives_turns_and_begins_with_a_higher_epoch(
    small_disk: Path, prepare: Prepare
) -> None:
    of = prepare(epoch_file=str(small_disk / "epoch"))
    of.log = small_disk / "log"
    of.start()
    first = of.top().load.epoch
    agents = a, b = holder_and_waiter(of)
    fill(small_disk)
    reloads = 0
    while of.count("dropped_log_lines") == 0:  # what is left of the log's last page takes some
        reloads += 1
        assert reloads < 90, "more lines at once are dropped on any disk"
        of.signal(signal.SIGHUP)
        run_until(agents, lambda due=reloads: of.count("reloads") == due, "it reads its configuration")
    a.release()
    run_until(agents, has_turn(b), "B has the turn")
    of.kill()
    of.configure(epoch_file=str(small_disk / "epoch"), times=RELEARNING)
    of.start()
    assert of.top().load.epoch > first
    a.come_back()
    b.come_back()
    renewed = len(b.of_type("grant"))
    run_until(agents, heard(b, "grant", renewed + 3), "B goes on")
    (small_disk / "filler").unlink()
    of.signal(signal.SIGHUP)
    wait_until(lambda: "log lines are missing" in of.log.read_text(), "the log goes on")


def day_of_log(of: CoordinatorProcess) -> str:
    return of.log.read_text().splitlines()[-1][:10]


def day(seconds_from_now: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(time.time() + seconds_from_now))


@pytest.mark.parametrize("step_s", [2 * DAY_S, -2 * DAY_S])
def test_a_clock_that_steps_changes_no_turn(prepare: Prepare, clock: SteppingClock, step_s: int) -> None:
    of = prepare()
    of.start(where=clock.where)
    agents = a, b = holder_and_waiter(of)
    clock.step(step_s)
    of.signal(signal.SIGHUP)
    run_until(agents, lambda: day_of_log(of) == day(step_s), "the daemon's clock has stepped")
    renewed = len(a.of_type("grant"))
    run_until(agents, heard(a, "grant", renewed + 3), "A's lease is renewed")
    assert not b.of_type("grant")
    assert not a.of_type("voided")
    assert not a.closed
    assert not b.closed
    assert of.count("stalled_holders") == of.count("silent_agents") == 0
    assert of.count("own_pauses_seconds") < HOUR_S
    assert 0 < b.of_type("wait")[-1]["expected_s"] < DAY_S
    a.release()
    run_until(agents, has_turn(b), "B has the turn")


def test_a_clock_that_was_set_back_between_two_starts_leaves_turns_as_they_are(
    prepare: Prepare, clock: SteppingClock, tmp_path: Path
) -> None:
    of = prepare(epoch_file=str(tmp_path / "epoch"))
    of.start(where=clock.where)
    agents = a, b = holder_and_waiter(of)
    before, lease = a.fence, a.lease
    of.kill()
    of.configure(epoch_file=str(tmp_path / "epoch"), times=RELEARNING)
    clock.step(-2 * DAY_S)
    of.start(where=clock.where)
    assert day_of_log(of) == day(-2 * DAY_S)
    b.come_back()
    a.come_back()
    run_until(agents, heard(a, "grant"), "A goes on")
    assert a.lease == lease
    assert a.fence > before
    assert not b.of_type("grant")
