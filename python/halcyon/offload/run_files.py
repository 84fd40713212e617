"""The JSON files of a run as typed values: run.json, and counts-<writer>.json. See docs/run-directory.md."""

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, TypeVar

from annotated_types import Ge
from pydantic import ConfigDict, TypeAdapter, ValidationError, with_config

from halcyon.errors import ConfigError, HalcyonSystemError
from halcyon.whole_text import read_whole_text

Count = Annotated[int, Ge(0)]
Seconds = Annotated[float, Ge(0)]
Parameter = bool | int | float | str

_READER = ConfigDict(extra="ignore", allow_inf_nan=False)


@with_config(_READER)
@dataclass(frozen=True)
class Manifest:
    """run.json: who ran where. Times of day in nanoseconds since 1970; None or 0 where they were never written."""

    format: int
    approach: str
    ranks: Annotated[int, Ge(1)]
    simulation: str = ""
    nodes: Annotated[int, Ge(1)] = 1
    clients_per_node: list[int] = field(default_factory=list)
    dedicated_cores: Count = 0  # of each node
    started_ns: Count | None = None
    ended_ns: Count | None = None
    parameters: dict[str, Parameter] = field(default_factory=dict)
    writers: list[str] = field(default_factory=list)
    compute_s: Seconds | None = None
    open_s: Seconds | None = None
    close_s: Seconds | None = None
    run_s: Seconds | None = None

    @property
    def cores(self) -> int:
        """Cores the run occupied, those left to servers included: the N of Dorier 2014, eq. 3.1."""
        return self.ranks + self.dedicated_cores * self.nodes


@dataclass(frozen=True)
class Switch:
    """Something that changed its mode while the run went on."""

    what: str
    at_ns: Count = 0


@with_config(_READER)
@dataclass(frozen=True)
class Counts:
    """counts-<writer>.json: everything that was not the normal path, as one server or inline client counted it."""

    finished: bool = False
    iterations: Count = 0
    blocks: Count = 0
    bytes: Count = 0
    skipped_blocks: Count = 0
    skipped_bytes: Count = 0
    spilled_blocks: Count = 0
    spilled_bytes: Count = 0
    inlined_blocks: Count = 0
    inlined_bytes: Count = 0
    unstored_blocks: Count = 0
    unstored_bytes: Count = 0
    early_parts: Count = 0
    overflowed_values: Count = 0
    lost_records: Count = 0
    lost_files: Count = 0
    unasked_bytes: Count = 0
    missing_blocks: Count = 0
    incomplete_iterations: Count = 0
    dead_clients: Count = 0
    server_restarts: Count = 0
    lost_signals: Count = 0
    rejected_blocks: Count = 0
    failed_files: Count = 0
    failed_actions: Count = 0
    ended_plugins: Count = 0
    plugins_aside: Count = 0
    skipped_actions: Count = 0
    unseen_blocks: Count = 0
    waiting_actions: Count = 0
    switches: list[Switch] = field(default_factory=list)
    busy_ns: Count = 0
    idle_ns: Count = 0
    messages: list[str] = field(default_factory=list)
    unknown: dict[str, float] = field(default_factory=dict)  # counts of a newer Halcyon: shown by their names


_Read = TypeVar("_Read")
_MANIFEST = TypeAdapter(Manifest)
_COUNTS = TypeAdapter(Counts)
_COUNT_NAMES = {item.name for item in fields(Counts)} - {"unknown"}


def read_manifest(path: Path) -> Manifest:
    """Reads run.json; ConfigError where it is malformed or of a format that this version does not know."""
    values = read_object(path)
    if values.get("format") != 1:
        raise ConfigError(f"{path}: format: expected 1, found {values.get('format')!r}; read it with a newer Halcyon")
    return _validated(_MANIFEST, values, path)


def read_counts(path: Path) -> Counts:
    """Reads counts-<writer>.json. Numbers under names that this version does not know are kept as `unknown`."""
    values = read_object(path)
    known = {name: value for name, value in values.items() if name in _COUNT_NAMES}
    newer = {
        name: value
        for name, value in values.items()
        if name not in _COUNT_NAMES and isinstance(value, int | float) and not isinstance(value, bool)
    }
    return _validated(_COUNTS, {**known, "unknown": newer}, path)


def read_object(path: Path) -> dict[str, Any]:
    """Reads a file that holds one JSON object."""
    try:
        data = read_whole_text(path)
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    try:
        values = json.loads(data)
    except json.JSONDecodeError as why:
        raise ConfigError(f"{path}:{why.lineno}: not JSON: {why.msg} (column {why.colno})") from why
    except UnicodeDecodeError as why:
        raise ConfigError(f"{path}: not JSON: not UTF-8 at byte {why.start}") from why
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: expected a JSON object, found {type(values).__name__}")
    return values


def _validated(adapter: TypeAdapter[_Read], values: dict[str, Any], path: Path) -> _Read:
    try:
        return adapter.validate_python(values)
    except ValidationError as why:
        first = why.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part not in ("bool", "int", "float", "str"))
        seen = "" if first["type"] == "missing" else f", found {first['input']!r}"
        raise ConfigError(f"{path}: {where}: {first['msg'][:1].lower()}{first['msg'][1:]}{seen}") from why
