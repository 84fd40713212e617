"""Sums up one `make test`: each skipped test with its reason, the slowest tests, the minutes of each part of the run,
each failed test, every runner's results in one line. So the end of a log tells what failed.

Usage: test_summary.py RESULTS [BUILD…]

RESULTS holds JUnit files: `ctest-<preset>.xml` of ctest, any other of pytest; `left-out.txt`, the names of tests
that were not started because they need large extras or take long; `parts.txt`, a line `SECONDS NAME` for each part of
the run. A gtest program is one test to ctest; when it left its own report in BUILD/Testing/cases/<test>.xml, its cases
are counted instead. Exit status 1 if anything failed.
"""

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

SLOWEST = 20
"""So many tests are listed with their times."""


@dataclass(frozen=True)
class Outcome:
    """One test: where it ran, its name, how it ended, when it was skipped why, and how long it took (0: not told)."""

    runner: str
    name: str
    end: Literal["passed", "failed", "skipped"]
    reason: str = ""
    seconds: float = 0.0


def _seconds(test: ET.Element) -> float:
    return float(test.get("time") or 0)


def _skip_reason(output: str) -> str:
    """A script that skips itself says why in its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"


def _gtest_cases(runner: str, report: Path) -> Iterator[Outcome]:
    for case in ET.parse(report).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        took = _seconds(case)
        if case.find("failure") is not None:
            yield Outcome(runner, name, "failed", seconds=took)
        elif skipped is not None:
            # gtest writes "<file>:<line>\n<reason>".
            reason = skipped.get("message", "").split("\n", 1)[-1].strip()
            yield Outcome(runner, name, "skipped", reason or "no reason given", took)
        elif case.get("status") == "run":
            yield Outcome(runner, name, "passed", seconds=took)


def ctest_outcomes(report: Path, build: Path | None) -> Iterator[Outcome]:
    """The tests of one ctest report; gtest programs case by case where their reports are in `build`."""
    runner = report.stem
    for test in ET.parse(report).iter("testcase"):
        name = test.get("name", "?")
        cases: list[Outcome] = []
        own = build / "Testing" / "cases" / f"{name}.xml" if build else None
        if own is not None and own.is_file():
            try:
                cases = list(_gtest_cases(runner, own))
            except ET.ParseError:
                cases = []  # the program died while writing it; ctest knows that it failed
        skipped = test.find("skipped")
        took = _seconds(test)
        # ctest marks a program that could not be started with <skipped>, too; that is a failure.
        if skipped is not None and "SKIP_" in skipped.get("message", ""):
            output = test.findtext("system-out") or ""
            yield from cases or [Outcome(runner, name, "skipped", _skip_reason(output), took)]
        elif test.get("status") == "run":
            yield from cases or [Outcome(runner, name, "passed", seconds=took)]
        elif test.get("status") == "disabled":
            yield Outcome(runner, name, "skipped", "disabled in CMake")
        else:
            yield from cases
            if not any(case.end == "failed" for case in cases):
                yield Outcome(runner, name, "failed", seconds=took)


def pytest_outcomes(report: Path) -> Iterator[Outcome]:
    for test in ET.parse(report).iter("testcase"):
        name = f"{test.get('classname')}::{test.get('name')}"
        skipped = test.find("skipped")
        took = _seconds(test)
        if test.find("failure") is not None or test.find("error") is not None:
            yield Outcome(report.stem, name, "failed", seconds=took)
        elif skipped is not None:
            yield Outcome(report.stem, name, "skipped", skipped.get("message", "no reason given"), took)
        else:
            yield Outcome(report.stem, name, "passed", seconds=took)


def collect(results: Path, builds: list[Path]) -> list[Outcome]:
    """All outcomes in `results`; the build of preset P is the one of `builds` whose folder is named P."""
    by_preset = {build.name: build for build in builds}
    outcomes: list[Outcome] = []
    for report in sorted(results.glob("*.xml")):
        if report.stem.startswith("ctest-"):
            outcomes += ctest_outcomes(report, by_preset.get(report.stem.removeprefix("ctest-")))
        else:
            outcomes += pytest_outcomes(report)
    left_out = results / "left-out.txt"
    if left_out.is_file():
        for name in left_out.read_text().split():
            outcomes.append(Outcome("ctest", name, "skipped", "needs large extras, or takes long: make test-full"))
    return outcomes


def slowest(outcomes: list[Outcome]) -> list[Outcome]:
    """At most SLOWEST tests whose times are known, the slowest first."""
    timed = [one for one in outcomes if one.seconds > 0]
    return sorted(timed, key=lambda one: (-one.seconds, one.runner, one.name))[:SLOWEST]


def minutes(results: Path) -> str:
    """How long each part of the run took, and all of them; empty when nobody told."""
    told = results / "parts.txt"
    parts = [line.split(maxsplit=1) for line in told.read_text().splitlines()] if told.is_file() else []
    if not parts:
        return ""
    of_all = sum(float(seconds) for seconds, _ in parts) / 60
    return ", ".join(f"{name} {float(seconds) / 60:.1f}" for seconds, name in parts) + f"; in all {of_all:.1f}"


def main(arguments: list[str]) -> int:
    results = Path(arguments[0])
    outcomes = collect(results, [Path(build) for build in arguments[1:]])
    of = {end: [o for o in outcomes if o.end == end] for end in ("passed", "failed", "skipped")}
    for outcome in of["skipped"]:
        print(f"skipped: [{outcome.runner}] {outcome.name}: {outcome.reason}")
    if longest := slowest(outcomes):
        print("slowest tests:")
    for outcome in longest:
        print(f"{outcome.seconds:9.2f} s  [{outcome.runner}] {outcome.name}")
    if told := minutes(results):
        print(f"minutes: {told}")
    for outcome in of["failed"]:
        print(f"failed: [{outcome.runner}] {outcome.name}")
    print(", ".join(f"{len(of[end])} {end}" for end in ("passed", "failed", "skipped")))
    return 1 if of["failed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
