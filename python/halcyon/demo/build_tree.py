"""What the demo runs: the cloud model of a build tree, under the MPI it was built for."""

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import UsageError


@dataclass(frozen=True)
class BuildTree:
    """Programs and inputs, and how to start them."""

    root: Path
    build: Path
    launcher: tuple[str, ...]

    @property
    def cloud(self) -> Path:
        return self.build / "apps/cloud/cloud"

    @property
    def inputs(self) -> Path:
        return self.root / "apps/cloud"

    def command(self, ranks: int, *words: str) -> list[str]:
        """The model under MPI, each rank on a core of its own where there are enough."""
        return [*self.launcher, "-n", str(ranks), str(self.cloud), *words]

    def environment(self) -> dict[str, str]:
        """Open MPI refuses root and more ranks than cores, unless told."""
        wanted = {
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "HALCYON_MODULE_PATH": str(self.build / "lib"),
        }
        return os.environ | wanted


def find_build_tree() -> BuildTree:
    """As HALCYON_ROOT and HALCYON_BUILD say; else the working directory is the root. UsageError: nothing is built."""
    root = Path(os.environ.get("HALCYON_ROOT", ".")).resolve()
    build = Path(os.environ.get("HALCYON_BUILD", root / "build/release")).resolve()
    cache = build / "CMakeCache.txt"
    if not cache.is_file() or not (build / "apps/cloud/cloud").is_file():
        raise UsageError(f"{build}: no cloud model is built here; `make demo` in the source tree builds it first")
    chosen = re.search(r"^HALCYON_MPI:\w+=(\w+)$", cache.read_text(), re.MULTILINE)
    mpi = chosen[1] if chosen else "openmpi"
    program = shutil.which(f"mpirun.{mpi}") or shutil.which("mpirun")
    if program is None:
        raise UsageError(f"no mpirun.{mpi}: `make setup` installs it")
    binding = ("-bind-to", "core") if mpi == "mpich" else ("--bind-to", "core:overload-allowed")
    return BuildTree(root, build, (program, *binding))
