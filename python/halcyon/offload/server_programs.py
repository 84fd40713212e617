"""Finds the server programs that belong to this installation of the package."""

import os
import shutil
import subprocess
from pathlib import Path

from halcyon.errors import UnavailableError

_PACKAGE = Path(__file__).resolve().parents[1]


def find_server() -> Path | None:
    """halcyon-server; None where there is none, and then the client library looks beside itself."""
    return next((place for place in _places("halcyon-server", "HALCYON_SERVER") if _is_program(place)), None)


def find_world_server(family: str) -> Path:
    """halcyon-server-world, built for this MPI: "Open MPI" or "MPICH". UnavailableError: none."""
    tried = []
    for place in _places("halcyon-server-world", "HALCYON_SERVER_WORLD"):
        if not _is_program(place):
            tried.append(f"{place} (not there)")
            continue
        told = subprocess.run([place, "--mpi"], capture_output=True, text=True, check=False).stdout.strip()
        if told == family:
            return place
        tried.append(f"{place} (built for {told or 'another release'})")
    raise UnavailableError(
        f"no halcyon-server-world built for {family}; looked for {', '.join(tried)}. "
        "Set HALCYON_SERVER_WORLD to the path of one"
    )


def _places(name: str, variable: str) -> list[Path]:
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


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
