"""What a command needs in its environment to be recorded."""

import os
from pathlib import Path

from halcyon.errors import UnavailableError, UsageError
from halcyon.quantities import parse_bytes

LAYERS = ("trace",)
"""Those that this release has, in the order in which calls pass them."""

LEAST_BUFFER = 1 << 20
LARGEST_BUFFER = 22 << 20
"""Bytes: 64 chunks, of which record_buffer.hpp has no more."""

_PACKAGE = Path(__file__).resolve().parents[2]
_LIBRARY = "libhalcyon-io.so"


def find_library() -> Path:
    """libhalcyon-io.so of this installation. UnavailableError: there is none."""
    if named := os.environ.get("HALCYON_IO_LIBRARY"):
        places = [Path(named)]
    else:
        checkout = _PACKAGE.parents[1]
        places = [_PACKAGE / "lib" / _LIBRARY]
        if (checkout / "CMakePresets.json").exists():
            places += [checkout / "build" / preset / "lib" / _LIBRARY for preset in ("release", "mpich")]
        else:
            places += [Path(prefix) / "lib" / _LIBRARY for prefix in ("/usr/local", "/usr")]
    for place in places:
        if place.is_file():
            return place
    raise UnavailableError(
        f"no {_LIBRARY}; looked for {', '.join(map(str, places))}. Set HALCYON_IO_LIBRARY to the path of one"
    )


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
    preloaded = [str(find_library()), *filter(None, [os.environ.get("LD_PRELOAD")])]
    wanted = {"LD_PRELOAD": ":".join(preloaded), "HALCYON_LAYERS": ",".join(layers), "HALCYON_TRACE_DIR": str(traces)}
    # Programs that were built with the sanitizer refuse to start where a library comes before its own.
    options = filter(None, [os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0"])
    wanted["ASAN_OPTIONS"] = ":".join(options)
    if local is not None:
        wanted["HALCYON_TRACE_LOCAL"] = str(local)
    if buffer is not None:
        wanted["HALCYON_TRACE_BUFFER"] = str(_buffer_bytes(buffer))
    if contexts:
        wanted["HALCYON_TRACE_CONTEXTS"] = "1"
    return wanted


def _buffer_bytes(text: str) -> int:
    size = parse_bytes(text, "--buffer")
    if not LEAST_BUFFER <= size <= LARGEST_BUFFER:
        raise UsageError(f"--buffer {text}: expected {LEAST_BUFFER >> 20} MiB to {LARGEST_BUFFER >> 20} MiB")
    return size
