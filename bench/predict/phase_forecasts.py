#!/usr/bin/env python3
"""How well the begin of the next phase is forecast: the program of this name, and beside it FTIO.

Prints the program's figures and a table of them. FTIO (https://github.com/tuda-parallel/FTIO) is asked where the Python
that runs this has it (`pip install ftio-hpc`); '-' otherwise.

FTIO says with which period I/O repeats itself; the next phase is expected one such period after the last one began. It
is asked at the end of each third phase, from the twentieth on, and sees all until then.
"""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

BUILD = Path(os.environ.get("HALCYON_BUILD", Path(__file__).resolve().parents[2] / "build/release"))
PROGRAM = BUILD / "bench/predict/phase_forecasts"

BURST_S = 0.007
BURST_BYTES = 4 << 20
FIRST, EACH = 20, 3
SAMPLES_PER_S = 200
"""Of the bandwidth that FTIO is told: more than one in each burst."""

COLUMNS = (
    ("coverage, %", "interval_coverage_90_{}", ".1f"),
    ("in a phase", "interval_coverage_90_{}_in_phase", ".1f"),
    ("in a pause", "interval_coverage_90_{}_in_pause", ".1f"),
    ("width / range", "interval_width_over_range_{}", ".2f"),
    ("error, ms", "next_phase_error_ms_{}", ".2f"),
    ("stated deviation", "next_phase_deviation_ms_{}", ".2f"),
    ("always the same", "next_phase_error_ms_{}_same", ".2f"),
    ("last value", "next_phase_error_ms_{}_last_value", ".2f"),
    ("Markov-2", "next_phase_error_ms_{}_markov_2", ".2f"),
    ("FTIO", "next_phase_error_ms_{}_ftio", ".0f"),
)


def told(*words: str) -> list[str]:
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@dataclass
class Bursts:
    """Of a pattern, in seconds. A phase begins with a burst, and may have more."""

    begins: list[float] = field(default_factory=list)
    phases: list[int] = field(default_factory=list)
    """Numbers of the bursts that phases begin with."""


def series() -> dict[str, Bursts]:
    patterns: dict[str, Bursts] = {}
    for line in told("--series"):
        name, *pauses = line.split()
        now = 0.0
        bursts = patterns[name] = Bursts()
        for number, pause in enumerate(pauses):
            now += int(pause.rstrip("n")) / 1e9
            bursts.begins.append(now)
            if not pause.endswith("n"):  # nested
                bursts.phases.append(number)
            now += BURST_S
    return patterns


def ftio() -> Callable[[list[float]], float | None] | None:
    """What finds the period of bursts; None where FTIO is not installed."""
    try:
        quick_ftio = import_module("ftio.processing.compact_operations").quick_ftio
    except ImportError:
        return None

    def period(begins: list[float]) -> float | None:
        times = [time for begin in begins for time in (begin, begin + BURST_S)]
        bandwidth = [BURST_BYTES / BURST_S, 0.0] * len(begins)
        words = ["-e", "no", "-f", str(SAMPLES_PER_S)]
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            found = quick_ftio(words, bandwidth, times, BURST_BYTES * len(begins), 1, verbose=False)
        frequency = float(found.get_dominant_freq())
        return 1 / frequency if frequency > 0 else None  # NaN: it found none

    return period


def ftio_error_ms(bursts: Bursts, period: Callable[[list[float]], float | None]) -> tuple[float | None, int, int]:
    """Mean error where it names a period; how often it does, of how many questions."""
    errors, asked = [], 0
    for number in range(FIRST, len(bursts.phases), EACH):
        asked += 1
        last, following = (bursts.begins[burst] for burst in bursts.phases[number - 1 : number + 1])
        if found := period(bursts.begins[: bursts.phases[number]]):
            errors.append(abs(last + found - following) * 1000)
    return sum(errors) / len(errors) if errors else None, len(errors), asked


def main() -> int:
    lines = told()
    print("\n".join(lines), flush=True)
    figures = {line.split()[0].removeprefix("predict."): float(line.split()[1]) for line in lines}
    patterns = series()
    if period := ftio():
        for name, bursts in patterns.items():
            error, found, asked = ftio_error_ms(bursts, period)
            print(f"{name}: FTIO names a period in {found} of {asked} questions", file=sys.stderr, flush=True)
            if error is not None:
                figures[f"next_phase_error_ms_{name}_ftio"] = error
                print(f"predict.next_phase_error_ms_{name}_ftio {error:.6g} ms", flush=True)
    print(" | ".join(["| pattern", *(title for title, _, _ in COLUMNS)]) + " |", file=sys.stderr)
    print("|---" * (len(COLUMNS) + 1) + "|", file=sys.stderr)
    for name in patterns:
        cells = (figures.get(figure.format(name)) for _, figure, _ in COLUMNS)
        shown = ["-" if cell is None else format(cell, form) for cell, (_, _, form) in zip(cells, COLUMNS, strict=True)]
        print(" | ".join([f"| {name.replace('_', ' ')}", *shown]) + " |", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
