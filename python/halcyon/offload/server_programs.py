"""Finds the server programs that belong to this installation of the package."""

import subprocess
from pathlib import Path

from halcyon.errors import UnavailableError
from halcyon.installed_program import is_program, places_of


def find_server() -> Path | None:
    """halcyon-server; None where there is none, and then the client library looks beside itself."""
    return next((place for place in places_of("halcyon-server", "HALCYON_SERVER") if is_program(place)), None)


def find_world_server(family: str) -> Path:
    """halcyon-server-world, built for this MPI: "Open MPI" or "MPICH". UnavailableError: none."""
    tried = []
    for place in places_of("halcyon-server-world", "HALCYON_SERVER_WORLD"):
        if not is_program(place):
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
