"""What users changed while a run went on: steering-<writer>.csv. See docs/run-directory.md."""

import csv
import io
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.whole_text import read_whole_text


@dataclass(frozen=True)
class Steered:
    """A request that took effect: `parameter` was `value` from `iteration` on. `asked_ns`: since 1970."""

    request: int
    parameter: str
    value: float
    iteration: int
    asked_ns: int
    user: int
    process: int
    host: str

    @property
    def asked(self) -> str:
        """When, as people read it."""
        return datetime.fromtimestamp(self.asked_ns // 10**9, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")

    @property
    def text(self) -> str:
        return (
            f"steered: {self.parameter} = {self.value:.12g} from iteration {self.iteration} on, asked by process "
            f"{self.process} of user {self.user} on {self.host} at {self.asked}"
        )


_KINDS = {"request": int, "value": float, "iteration": int, "asked_ns": int, "user": int, "process": int}


def read_steering(directory: Path, gaps: list[str]) -> tuple[Steered, ...]:
    """Of all writers, in the order of the requests. `gaps` gets what is missing of a file that was cut off."""
    found: list[Steered] = []
    for path in sorted(directory.glob("steering-*.csv")):
        try:
            data = read_whole_text(path)
        except OSError as why:
            raise HalcyonSystemError.of(why, path) from why
        complete, _, rest = data.rpartition(b"\n")
        if rest or not data:
            gaps.append(f"{path.name}: the last line is cut off and left out")
        reader = csv.DictReader(io.StringIO(complete.decode("utf-8", "replace")))
        found += [_steered(path, reader.line_num, row) for row in reader]
    return tuple(sorted(found, key=lambda one: (one.request, one.parameter)))


def _steered(path: Path, line: int, row: dict[str, str]) -> Steered:
    try:
        numbers = {name: kind(row[name]) for name, kind in _KINDS.items()}
        return Steered(parameter=row["parameter"], host=row["host"], **numbers)
    except (KeyError, TypeError, ValueError) as why:
        raise ConfigError(f"{path}:{line}: no line of steering: {','.join(map(str, row.values()))}") from why
