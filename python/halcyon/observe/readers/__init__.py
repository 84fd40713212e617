"""Readers of traces. Each writes a data set as its source has it; `pack` sorts and completes it."""

import gzip
import re
import struct
import zlib
from enum import StrEnum
from pathlib import Path

from halcyon.errors import ConfigError, HalcyonSystemError, UsageError
from halcyon.observe.recording.folder import NAME as RECORDING

DARSHAN_MAGIC = 6567223
"""At byte 8 of a log, after the version of its format, in the byte order of the machine that wrote it."""


class Format(StrEnum):
    """A tool whose traces are read; the name is that of the reader's module."""

    HALCYON = "halcyon"
    DARSHAN = "darshan"
    DFTRACER = "dftracer"
    RECORDER = "recorder"
    OTF2 = "otf2"


WITH_LIBRARY = (Format.DARSHAN, Format.OTF2)
"""Read by C libraries that a damaged file may kill."""

EXPECTED = (
    "a folder made by `halcyon run --trace`, a Darshan log, a DFTracer trace (.pfw, .pfw.gz, or a folder of them), "
    "a folder of Recorder or of its recorder2text, an OTF2 archive (its anchor file or folder)"
)


def format_of(path: Path) -> Format:
    """Which tool wrote `path`, by content. UsageError: nothing is there. ConfigError: none of the known ones."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder; expected {EXPECTED}")
    try:
        found = _format_of_folder(path) if path.is_dir() else _format_of_file(path)
    except OSError as why:
        raise HalcyonSystemError.of(why, path) from why
    if found is None:
        raise ConfigError(f"{path}: not recognized{_output_of(path) or f'; expected {EXPECTED}'}")
    return found


def _output_of(path: Path) -> str:
    """What a folder is that is easily taken for a recording."""
    if not (path / "run.json").is_file():
        return ""
    return f": it is the output of a run, which `halcyon summary {path}` and `halcyon report {path}` read"


def _format_of_folder(path: Path) -> Format | None:
    names = [each.name for each in path.iterdir() if each.is_file()]
    if RECORDING in names:
        return Format.HALCYON
    if any(name.endswith((".pfw", ".pfw.gz")) for name in names):
        return Format.DFTRACER
    if any(name.endswith(".otf2") for name in names):
        return Format.OTF2
    if (
        "recorder.mt" in names
        or "VERSION" in names
        or "0.txt" in names
        or any(re.fullmatch(r"0+\.txt", n) for n in names)
    ):
        return Format.RECORDER
    return None


def _format_of_file(path: Path) -> Format | None:
    if not path.is_file():  # whoever reads a pipe or a device may wait for ever
        raise ConfigError(f"{path}: a pipe, socket or device; expected {EXPECTED}")
    with path.open("rb") as file:
        head = file.read(4096)
    if not head:
        raise ConfigError(f"{path}: empty; expected {EXPECTED}")
    if re.match(rb"\d\.\d\d\0", head) and len(head) >= 16:
        if DARSHAN_MAGIC in (*struct.unpack("<q", head[8:16]), *struct.unpack(">q", head[8:16])):
            return Format.DARSHAN
        raise ConfigError(f"{path}: byte 8: not Darshan's magic number: the log is damaged")
    if path.suffix == ".otf2" or head.startswith(b"OTF2"):
        return Format.OTF2
    if head.startswith(b"\x1f\x8b"):
        try:
            with gzip.open(path) as file:
                head = file.read(4096)
        except (EOFError, zlib.error, gzip.BadGzipFile) as why:
            raise ConfigError(f"{path}: its compression is damaged or cut off: {why}") from why
    text = head.lstrip(b"[ \t\r\n")
    # An object of trace events (as Halcyon's own exports to Perfetto) is no list of DFTracer's.
    if (text.startswith(b"{") and b'"cat"' in text and b'"traceEvents"' not in text) or path.name.endswith(
        (".pfw", ".pfw.gz")
    ):
        return Format.DFTRACER
    return None
