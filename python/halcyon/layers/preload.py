"""What a command needs in its environment to be recorded."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.quantities import parse_bytes

LAYERS = ("trace", "predict", "prefetch", "coordinate")
"""Those that this release has."""

_NEEDS = {"prefetch": "predict", "coordinate": "predict"}
"""Layers that use what another one forecasts."""

LEAST_BUFFER = 1 << 20
LARGEST_BUFFER = 22 << 20
"""Bytes: 64 chunks, of which record_buffer.hpp has no more."""

LEAST_MODEL = 256 << 10
"""Bytes of a thread's model: what it is made of takes some 100 KiB before it knows anything."""
LEAST_AHEAD = 64 << 10
MOST_VALUES = 64
"""limits.hpp has no more."""

_PACKAGE = Path(__file__).resolve().parents[1]


def find_library(name: str = "libhalcyon-io.so", variable: str = "HALCYON_IO_LIBRARY") -> Path:
    """A library of this installation, or the one that the environment names. UnavailableError: there is none."""
    if named := os.environ.get(variable):
        places = [Path(named)]
    else:
        checkout = _PACKAGE.parents[1]
        places = [_PACKAGE / "lib" / name]
        if (checkout / "CMakePresets.json").exists():
            places += [checkout / "build" / preset / "lib" / name for preset in ("release", "mpich")]
        else:
            places += [Path(prefix) / "lib" / name for prefix in ("/usr/local", "/usr")]
    for place in places:
        if place.is_file():
            return place
    raise UnavailableError(f"no {name}; looked for {', '.join(map(str, places))}. Set {variable} to the path of one")


def with_needed(layers: Sequence[str]) -> list[str]:
    """These layers, and those whose forecasts they use."""
    return list(dict.fromkeys([*layers, *(_NEEDS[layer] for layer in layers if layer in _NEEDS)]))


def preloading() -> dict[str, str]:
    """The variables by which a command and all that it starts load the library. UnavailableError: there is none."""
    preloaded = [str(find_library()), *filter(None, [os.environ.get("LD_PRELOAD")])]
    # Programs that were built with the sanitizer refuse to start where a library comes before its own.
    options = filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"])
    return {"LD_PRELOAD": ":".join(preloaded), "ASAN_OPTIONS": ":".join(options)}


def variables(
    layers: list[str], traces: Path, buffer: str | None = None, local: Path | None = None, contexts: bool = False
) -> dict[str, str]:
    """The variables by which `layers` are switched on in a command and all that it starts.

    `buffer`: room for calls that are not written yet, per process, such as '8 MiB'. `local`: a folder on each node's
    own disk, where traces lie until their process ends. `contexts`: with the call stack of each call.
    UsageError: a layer that is none, a buffer out of bounds.
    """
    for layer in layers:
        if layer not in LAYERS:
            raise UsageError(f"--layers: no layer '{layer}'; known layers: {', '.join(LAYERS)}")
    wanted = preloading() | {"HALCYON_LAYERS": ",".join(layers), "HALCYON_TRACE_DIR": str(traces)}
    if local is not None:
        wanted["HALCYON_TRACE_LOCAL"] = str(local)
    if buffer is not None:
        wanted["HALCYON_TRACE_BUFFER"] = str(_buffer_bytes(buffer))
    if contexts:
        wanted["HALCYON_TRACE_CONTEXTS"] = "1"
    return wanted


@dataclass(frozen=True)
class Prediction:
    """How the layer `predict` learns; None: as it does by itself."""

    memory: str | None = None
    """Of each thread's model, such as '4 MiB'."""
    cut_off: int | None = None
    """Distinct sizes and offsets of one place in the program that are learnt one by one."""
    least_pause: float | None = None
    """Seconds; shorter gaps do not start a new phase."""
    save: Path | None = None
    """Folder where the models go when processes end."""
    load: Path | None = None
    """Folder with models to begin with."""

    def variables(self) -> dict[str, str]:
        """UsageError: a value out of bounds, or a folder that is none."""
        wanted: dict[str, str] = {}
        if self.memory is not None:
            size = parse_bytes(self.memory, "--predict-memory")
            if size < LEAST_MODEL:
                raise UsageError(f"--predict-memory {self.memory}: expected {LEAST_MODEL >> 10} KiB at least")
            wanted["HALCYON_PREDICT_MEMORY"] = str(size)
        if self.cut_off is not None:
            if not 1 <= self.cut_off <= MOST_VALUES:
                raise UsageError(f"--predict-cut-off {self.cut_off}: expected 1 to {MOST_VALUES}")
            wanted["HALCYON_PREDICT_CUT_OFF"] = str(self.cut_off)
        if self.least_pause is not None:
            if not 0 < self.least_pause <= _LONGEST_PAUSE_S:
                raise UsageError(f"--predict-least-pause {self.least_pause}: expected 0 to {_LONGEST_PAUSE_S} seconds")
            wanted["HALCYON_PREDICT_LEAST_PAUSE_NS"] = str(max(round(self.least_pause * 1e9), 1))
        if self.load is not None:
            if not self.load.is_dir():
                raise UsageError(f"--model {self.load}: no such folder; one is made by --save-model")
            wanted["HALCYON_PREDICT_LOAD"] = str(self.load.resolve())
        if self.save is not None:
            try:
                self.save.mkdir(parents=True, exist_ok=True)
            except OSError as why:
                raise HalcyonSystemError.of(why, self.save) from why
            wanted["HALCYON_PREDICT_SAVE"] = str(self.save.resolve())
        return wanted


_LONGEST_PAUSE_S = 86_400


@dataclass(frozen=True)
class Prefetching:
    """How the layer `prefetch` reads ahead; None: as it does by itself."""

    memory: str | None = None
    """That reads of a process may be ahead, such as '32 MiB'."""
    percent: int | None = None
    """Reads that are less probable are left alone."""

    def variables(self) -> dict[str, str]:
        """UsageError: a value out of bounds."""
        wanted: dict[str, str] = {}
        if self.memory is not None:
            size = parse_bytes(self.memory, "--prefetch-memory")
            if size < LEAST_AHEAD:
                raise UsageError(f"--prefetch-memory {self.memory}: expected {LEAST_AHEAD >> 10} KiB at least")
            wanted["HALCYON_PREFETCH_BYTES"] = str(size)
        if self.percent is not None:
            if not 1 <= self.percent <= 100:
                raise UsageError(f"--prefetch-percent {self.percent}: expected 1 to 100")
            wanted["HALCYON_PREFETCH_PERCENT"] = str(self.percent)
        return wanted


def _buffer_bytes(text: str) -> int:
    size = parse_bytes(text, "--buffer")
    if not LEAST_BUFFER <= size <= LARGEST_BUFFER:
        raise UsageError(f"--buffer {text}: expected {LEAST_BUFFER >> 20} MiB to {LARGEST_BUFFER >> 20} MiB")
    return size
