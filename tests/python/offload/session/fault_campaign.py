"""Faults against sessions, for as long as one likes: what holds in the tests holds here, too.

    fault_campaign.py [--minutes M] [--rounds N] [--seed S] [--kind KIND …] [--step STEP] [--at-once N]

Each round is printed with its kind and its number: `--kind kill --step 512 --rounds 1` repeats step 512 of kind `kill`,
`--kind random --seed S --rounds 1` repeats the random round S. A round that breaks a promise keeps its directory, says
which promise, and the campaign fails.
"""

import argparse
import itertools
import shutil
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fault_rounds import KINDS, Round, Schedule
from promises import PROMISES, BrokenPromiseError
from running import available_mpis


class Tally:
    """What has been played, and how it went."""

    def __init__(self) -> None:
        self._of_kind: Counter[str] = Counter()
        self._broken: Counter[str] = Counter()
        self._visited: set[tuple[str, int]] = set()
        self._lock = threading.Lock()

    @property
    def failed(self) -> bool:
        return bool(self._broken)

    def add(self, played: Round, reached: bool, broken: str | None, text: str) -> None:
        with self._lock:
            self._of_kind[played.kind] += 1
            if broken:
                self._broken[broken] += 1
            if reached and played.kind != "random":
                self._visited.add((played.kind, played.number))
            print(text, flush=True)

    def summary(self, steps: dict[str, int]) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self._of_kind.items()))
        broken = ", ".join(f"{self._broken[which]} broke {which}" for which in PROMISES)
        visited = Counter(kind for kind, _ in self._visited)
        of_steps = ", ".join(f"{kind} {visited[kind]} of {count}" for kind, count in steps.items())
        return f"{self._of_kind.total()} rounds ({kinds}): {broken}; distinct steps visited: {of_steps or 'none'}"


def play(played: Round, tally: Tally) -> None:
    directory = Path(tempfile.mkdtemp(prefix=f"halcyon-fault-{played.kind}-{played.number}-"))
    try:
        reached = played.play(directory)
    except BrokenPromiseError as why:
        text = f"{played.kind} {played.number} broke a promise, see {directory}\n  {played}\n  {why}"
        tally.add(played, True, why.which, text)
    else:
        shutil.rmtree(directory)
        tally.add(played, reached, None, f"{played.kind} {played.number}: {'ok' if reached else 'ok, not reached'}")


def play_all(rounds: Iterator[Round], end: float, tally: Tally, at_once: int) -> None:
    """Until the rounds are over, or the time is."""
    next_one = threading.Lock()

    def work() -> None:
        while time.monotonic() < end:
            with next_one:
                played = next(rounds, None)
            if played is None:
                return
            play(played, tally)

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> int:
    kinds = "\n".join(f"  {kind:7} {what}" for kind, what in KINDS.items())
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=f"kinds:\n{kinds}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    parser.add_argument("--kind", action="append", choices=KINDS, help="only these; may be given more than once")
    parser.add_argument("--step", type=int, help="only this step of these kinds")
    parser.add_argument("--at-once", type=int, default=2, metavar="N", help="rounds that run at a time (%(default)s)")
    arguments = parser.parse_args()
    mpis = available_mpis()
    if not mpis:
        print("error: no build and launcher of any MPI; run `make build`", file=sys.stderr)
        return 2
    schedule = Schedule(arguments.kind or list(KINDS), mpis, arguments.seed, arguments.step)
    tally = Tally()
    print(f"seed {arguments.seed}; steps: {schedule.steps or 'none'}", flush=True)
    rounds = itertools.islice(schedule, arguments.rounds)
    play_all(rounds, time.monotonic() + 60 * arguments.minutes, tally, arguments.at_once)
    print(tally.summary(schedule.steps))
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
