"""Faults of the daemon at every message of an exchange, for as long as one likes.

    exchange_campaign.py [--minutes M] [--seed S] [--fault FAULT …] [--step STEP …]

Each round is printed with its fault and its step; `--fault kill --step interrupt-recall-A` repeats it. Every fault at
every step is visited once before any is visited again. A round that breaks a promise says which, and the campaign
fails. Some faults cannot come at some steps, or matter to nobody there: such a round says so.
"""

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from coordinator_process import CoordinatorProcess
from elected_pair import Pair
from etcd_process import EtcdProcess
from exchange_faults import OF_ONE, OF_TWO
from faulty_exchange import STEPS, NotReachedError, Step

MEMORY = "/dev/shm"


def play(fault: str, step: Step) -> str:
    """ "" where all went well, else what did not. NotReachedError: as its class says."""
    folder = Path(tempfile.mkdtemp(prefix="exchange-", dir=MEMORY))
    (folder / "scratch").mkdir()
    daemons: list[CoordinatorProcess] = []

    def prepared(**settings: object) -> CoordinatorProcess:
        daemons.append(CoordinatorProcess(Path(tempfile.mkdtemp(prefix="daemon-", dir=folder)), **settings))
        return daemons[-1]

    etcd = None
    try:
        if fault in OF_ONE:
            OF_ONE[fault](prepared(), folder / "scratch", step)
        else:
            (folder / "etcd").mkdir()
            etcd = EtcdProcess(folder / "etcd")
            etcd.start()
            OF_TWO[fault](Pair(prepared, etcd), folder / "scratch", step)
    except NotReachedError:
        raise
    except AssertionError as why:
        return str(why) or "a check failed"
    finally:
        for one in daemons:
            if one.process is not None and one.process.poll() is None:
                one.kill()
        if etcd is not None:
            etcd.kill()
        shutil.rmtree(folder)
    return ""


def main() -> int:
    faults = [*OF_ONE, *(OF_TWO if EtcdProcess.is_installed() else [])]
    steps = {str(step): step for step in STEPS}
    asked = argparse.ArgumentParser()
    asked.add_argument("--minutes", type=float, default=10)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--fault", action="append", choices=faults)
    asked.add_argument("--step", action="append", choices=steps)
    given = asked.parse_args()
    chance = random.Random(given.seed)
    until = time.monotonic() + 60 * given.minutes
    all_rounds = list(itertools.product(given.fault or faults, given.step or steps))
    played = broken = not_reached = 0
    while time.monotonic() < until:
        chance.shuffle(all_rounds)
        for fault, step in all_rounds:
            if time.monotonic() >= until:
                break
            played += 1
            try:
                why = play(fault, steps[step])
                broken += bool(why)
            except NotReachedError as told:
                not_reached += 1
                why = f"not reached: {told}"
            print(f"{fault} {step}: {why or 'well'}", flush=True)
    print(f"{played} rounds of {len(all_rounds)} faults and steps, {not_reached} not reached, {broken} broke a promise")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
