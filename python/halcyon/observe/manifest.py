"""A data set's `run.json`: what is known of the run, and which files hold how many rows, with their checksums."""

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_type_hints

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.observe.schema import VERSION, RunInfo
from halcyon.whole_text import read_whole_text

NAME = "run.json"
CHUNK = 8 << 20


@dataclass(frozen=True)
class Part:
    """One Parquet file of a data set."""

    rows: int
    bytes: int
    crc32: int

    @classmethod
    def of(cls, path: Path, rows: int) -> "Part":
        """What the file at `path` is now; `rows` is what was written to it."""
        return cls(rows, path.stat().st_size, file_crc32(path))


@dataclass(frozen=True)
class Manifest:
    """`run.json`. Keys of `parts` are paths within the data set: `files.parquet`, `calls/part-00000.parquet`."""

    info: RunInfo
    parts: Mapping[str, Part]


def engines_can_name(directory: Path) -> bool:
    """Whether the absolute path is UTF-8: engines and Parquet libraries take no other."""
    try:
        str(directory.absolute()).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def check_name(directory: Path) -> None:
    """UsageError: no engine could open a data set at that path."""
    if not engines_can_name(directory):
        raise UsageError(f"{directory}: its path is not UTF-8, in which alone data sets can be; name another folder")


def file_crc32(path: Path) -> int:
    """CRC-32 (as in zlib) of a whole file; memory does not grow with it."""
    value = 0
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            value = zlib.crc32(chunk, value)
    return value


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Writes `run.json` into `directory`."""
    document: dict[str, Any] = asdict(manifest.info)
    document["parts"] = {name: asdict(part) for name, part in sorted(manifest.parts.items())}
    document["crc32"] = _document_crc32(document)
    (directory / NAME).write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_manifest(directory: Path) -> Manifest:
    """Reads `run.json` of the data set in `directory`.

    UsageError: there is no data set. ConfigError: `run.json` is damaged, or of a schema newer than this Halcyon's.
    """
    path = directory / NAME
    document = _read_document(path)
    version = document.get("version")
    if isinstance(version, int) and version > VERSION:
        raise ConfigError(
            f"{path}: version: {version} is of a newer Halcyon; this one reads up to {VERSION}: "
            "install the newer one, or export the data set there"
        )
    if "writers" in document and "parts" not in document:
        raise UsageError(
            f"{path}: is of a simulation's output, not of a data set; `halcyon report` and `summary` read it"
        )
    given = document.pop("crc32", None)
    if given != _document_crc32(document):
        raise ConfigError(f"{path}: crc32: {given} is not that of the contents: the file was changed or damaged")
    parts = document.pop("parts", None)
    return Manifest(_info(path, document), _parts(path, parts))


def _read_document(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(read_whole_text(path))
    except FileNotFoundError as why:
        raise UsageError(f"{path.parent}: no data set there (no {NAME}); `halcyon pack` makes one") from why
    except NotADirectoryError as why:
        raise UsageError(f"{path.parent}: a file; expected the folder of a data set: `halcyon pack` makes one") from why
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    except json.JSONDecodeError as why:
        raise ConfigError(f"{path}:{why.lineno}: not JSON: {why.msg} (byte {why.pos}): damaged or cut off") from why
    except UnicodeDecodeError as why:
        raise ConfigError(f"{path}: not UTF-8 at byte {why.start}: damaged") from why
    except RecursionError as why:
        raise ConfigError(f"{path}: not JSON that a data set has: nested too deeply") from why
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: holds a {type(document).__name__}; expected an object")
    return document


def _document_crc32(document: Mapping[str, Any]) -> int:
    """Of the values, whatever the layout of the text."""
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    return zlib.crc32(text.encode())


def _info(path: Path, document: Mapping[str, Any]) -> RunInfo:
    known = {field.name for field in fields(RunInfo)}
    values = {}
    for name, kind in get_type_hints(RunInfo).items():
        if name not in known or name not in document:
            continue
        accepted = get_args(kind) if isinstance(kind, UnionType) else (kind,)
        value = document[name]
        if float in accepted and type(value) is int:
            value = float(value)
        if type(value) not in accepted:
            raise ConfigError(f"{path}: {name}: {value!r}; expected {kind}")
        values[name] = value
    try:
        return RunInfo(**values)
    except TypeError as why:
        raise ConfigError(f"{path}: a key is missing: {why}") from why


def _parts(path: Path, parts: object) -> dict[str, Part]:
    if not isinstance(parts, dict):
        raise ConfigError(f"{path}: parts: {parts!r}; expected the files of the data set")
    result = {}
    for name, part in parts.items():
        names = {field.name for field in fields(Part)}
        if not isinstance(part, dict) or set(part) != names or any(type(value) is not int for value in part.values()):
            raise ConfigError(f"{path}: parts.{name}: {part!r}; expected whole numbers {', '.join(sorted(names))}")
        result[name] = Part(**part)
    return result
