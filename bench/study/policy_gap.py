#!/usr/bin/env python3
"""The gap of the rule `dynamic` beyond 8 applications, where its search is a heuristic: cost of the schedule to which
its decisions lead, over the least cost of all schedules, less 1. 1,000 random instances of 9, 10 and 11 applications.

Of each instance a bound tells how much better any schedule can be at most, mostly within a second of processor time.
Where that is more than 2 %, an exhaustive search tells whether one is, and how much: from seconds to minutes. It looks
at two million positions first; those that need more are searched again when all have been. Instances are kept in
bench/study/policy/gap.jsonl; the same command goes on with those that are missing, each number of applications in turn.
It begins none after 85 minutes, or `--minutes`; run it with `nice`, or with as many `--jobs` as there are cores.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, quantiles
from typing import Literal, cast

from rounds import count, unmet

from halcyon.delta.row_file import RowFile

INSTANCES = 1000
APPLICATIONS = (9, 10, 11)
SEED = 1
BAR = 0.02
MOST_POSITIONS = (2_000_000, 20_000_000)
"""Of an instance's first search, and of its second one, where a bound is not enough."""
Known = Literal["exact", "at_most", "at_least", "not_known"]
CUT_OFF: tuple[Known, ...] = ("at_least", "not_known")
Which = tuple[int, int]
"""Applications, and the number of the instance among those with so many."""


@dataclass(frozen=True)
class Instance:
    """`number`: of those with so many applications. `kind`: see random_group.hpp. `known`: what `gap` is; `at_most`: no
    schedule is better by more than that; `at_least`: a search that was cut off had found that; `not_known`: it had
    found nothing. `positions`: of a search; 0: a bound was enough. `most_positions`: after which it was cut off."""

    applications: int
    number: int
    kind: int
    metric: str
    gap: float
    known: Known
    positions: int
    wall_s: float
    most_positions: int = MOST_POSITIONS[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=85.0)
    parser.add_argument("--jobs", type=int, default=1, help="instances at a time, on a core each")
    parser.add_argument("--program", type=Path, help="policy_campaign, where it is built already")
    root = Path(os.environ.get("HALCYON_ROOT", Path(__file__).resolve().parents[2]))
    parser.add_argument("--data", type=Path, default=root / "bench/study/policy")
    asked = parser.parse_args()
    program = asked.program or built(Path(os.environ["HALCYON_BUILD"]))
    asked.data.mkdir(parents=True, exist_ok=True)
    until_s = time.monotonic() + 60 * asked.minutes
    with RowFile(asked.data / "gap.jsonl", {"instances": INSTANCES, "seed": SEED, "bar": BAR}, None) as file:
        found = latest([Instance(**row) for row in file.found])

        def search(applications: int, number: int, most: int) -> Instance | None:
            return measured(program, applications, number, most) if time.monotonic() < until_s else None

        with ThreadPoolExecutor(asked.jobs) as pool:
            for most in MOST_POSITIONS:
                started = [pool.submit(search, *which, most) for which in missing(found, most)]
                for ended in as_completed(started):
                    if (one := ended.result()) is None:
                        continue
                    found[one.applications, one.number] = one
                    file.add(asdict(one))
                    print(f"{len(found)} of {INSTANCES}: {json.dumps(asdict(one))}", file=sys.stderr, flush=True)
    report(list(found.values()))
    return 0


def latest(found: Sequence[Instance]) -> dict[Which, Instance]:
    """An instance's second search tells more than its first."""
    return {(one.applications, one.number): one for one in found}


def built(build: Path) -> Path:
    """Of tests/policy: no other target needs it."""
    subprocess.run(["cmake", "--build", build, "--target", "policy_campaign"], check=True, stdout=sys.stderr)
    return build / "tests/policy/policy_campaign"


def missing(found: Mapping[Which, Instance], most: int) -> Iterator[Which]:
    """What a search of `most` positions can add to."""
    for i in range(INSTANCES):
        number, which = divmod(i, len(APPLICATIONS))
        one = found.get((APPLICATIONS[which], number))
        if one is None or (one.known in CUT_OFF and one.most_positions < most):
            yield APPLICATIONS[which], number


def measured(program: Path, applications: int, number: int, most: int) -> Instance:
    begin_s = time.monotonic()
    # It fails where the gap is above the bar, too.
    done = subprocess.run(
        [program, str(applications), str(number), "1", str(SEED), str(most)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1):
        raise SystemExit(f"error: {program} ended with {done.returncode}: {done.stderr.strip()}")
    _, kind, metric, gap, known, positions = done.stdout.splitlines()[0].split()
    wall_s = round(time.monotonic() - begin_s, 3)
    known = cast("Known", known)
    return Instance(applications, number, int(kind), metric, float(gap), known, int(positions), wall_s, most)


def report(found: Sequence[Instance]) -> None:
    """By the number of applications, and of all."""
    known = [one for one in found if one.known != "not_known"]
    for applications in APPLICATIONS:
        of_these = [one for one in known if one.applications == applications]
        if len(of_these) > 1:
            tell(f"heuristic_gap_of_{applications}", of_these)
    not_known = len(found) - len(known)
    count("policy", "heuristic_gap_not_known", not_known, "instances")
    if len(found) < INSTANCES or not_known:
        unmet("policy", "heuristic_gap", why_unmet(len(found), known))
    else:
        tell("heuristic_gap", known)


def why_unmet(there: int, known: Sequence[Instance]) -> str:
    said = []
    if there < INSTANCES:
        said.append(f"{there} of {INSTANCES} instances; the same command goes on")
    if there > len(known):
        said.append(f"of {there}, {there - len(known)} searches were cut off, and nothing is known of their gap")
    if known:
        above = sum(one.gap > BAR for one in known)
        said.append(
            f"of the {len(known)} others {above} are above {BAR:g}; greatest {max(one.gap for one in known):.4f}"
        )
    return "; ".join(said)


def tell(name: str, known: Sequence[Instance]) -> None:
    """`…_mean` and the percentiles: at most, since most gaps are known by a bound. `…_above`: instances whose gap is
    above the bar. `…_bounded`: of which it is known by a bound."""
    gaps = [one.gap for one in known]
    deciles = quantiles(gaps, n=100, method="inclusive")
    count("policy", f"{name}_instances", len(gaps), "instances")
    count("policy", f"{name}_bounded", sum(one.known == "at_most" for one in known), "instances")
    count("policy", f"{name}_mean", mean(gaps), "ratio")
    count("policy", f"{name}_p90", deciles[89], "ratio")
    count("policy", f"{name}_p99", deciles[98], "ratio")
    count("policy", f"{name}_greatest", max(gaps), "ratio")
    count("policy", f"{name}_above", sum(gap > BAR for gap in gaps), "instances")


if __name__ == "__main__":
    sys.exit(main())
