"""Finds programs that belong to this installation of the package."""

import os
import shutil
from pathlib import Path

from halcyon.errors import UnavailableError

_PACKAGE = Path(__file__).resolve().parent


def places_of(name: str, variable: str) -> list[Path]:
    """Where the program may be, the likeliest first; the environment variable `variable` alone where it is set."""
    places = []
    if named := os.environ.get(variable):
        return [Path(named)]
    if server := os.environ.get("HALCYON_SERVER"):
        places.append(Path(server).parent / name)
    places.append(_PACKAGE / "bin" / name)  # a wheel
    checkout = _PACKAGE.parents[1]
    if (checkout / "CMakePresets.json").exists():
        places += [checkout / "build" / preset / "bin" / name for preset in ("release", "mpich")]
    if on_path := shutil.which(name):
        places.append(Path(on_path))
    return list(dict.fromkeys(places))


def find_installed(name: str, variable: str) -> Path:
    """The first of its places that has it. UnavailableError: none has; it names all places, and the variable."""
    places = places_of(name, variable)
    if found := next((place for place in places if is_program(place)), None):
        return found
    looked = ", ".join(map(str, places)) or "it on PATH"
    raise UnavailableError(f"no {name}; looked for {looked}. Set {variable} to the path of one")


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
