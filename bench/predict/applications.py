"""The applications on which predictions are measured, and how each is recorded. Those of Omnisc'IO's evaluation (Dorier
2014, table 7.5), or what is closest to them and can be had here: benchmarks, studies and tests all take them from here.

    python applications.py FOLDER [NAME…]      records them below FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INPUTS = Path(__file__).resolve().parent / "inputs"
BUILD = Path(os.environ.get("HALCYON_BUILD", ROOT / "build/release"))
OPENFOAM = Path("/usr/share/openfoam")
LIMIT_S = 600

RECORDING = ("--trace", "--contexts")
"""How `halcyon run` is told what to record."""

MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
}


@dataclass(frozen=True)
class Application:
    """`iterations` output phases of `ranks` processes, with computation between them. `command` writes the input files
    into a folder and returns the program with its words for so many iterations; `missing` says why it cannot run here,
    or nothing."""

    name: str
    what: str
    iterations: int
    ranks: int
    command: Callable[[Path, int], list[str]]
    missing: Callable[[], str | None]


def program(app: str) -> Path:
    return BUILD / "apps" / app / app


def unbuilt(app: str) -> Callable[[], str | None]:
    return lambda: None if program(app).exists() else f"{program(app)} is not built"


def uninstalled(program: str, package: str) -> Callable[[], str | None]:
    return lambda: None if shutil.which(program) else f"{program} is not installed (Debian: {package})"


def cloud(**settings: object) -> Callable[[Path, int], list[str]]:
    def command(folder: Path, iterations: int) -> list[str]:
        shutil.copy(ROOT / "apps/cloud/soundings/20110522_OUN_12Z.txt", folder / "sounding.txt")
        every = 16
        grid = {"nx": 32, "ny": 32, "nz": 40, "bubble_radius": 8000}
        times = {"steps": every * iterations, "output_every": every}
        words = grid | times | {"sounding": "sounding.txt", "directory": "out"} | settings
        return [str(program("cloud")), *(f"{key}={value}" for key, value in words.items())]

    return command


def mini_app(app: str, every: int, **settings: object) -> Callable[[Path, int], list[str]]:
    def command(folder: Path, iterations: int) -> list[str]:
        words = {"steps": every * iterations, "output_every": every, "directory": "out"} | settings
        return [str(program(app)), *(f"{key}={value}" for key, value in words.items())]

    return command


def lammps(folder: Path, iterations: int) -> list[str]:
    shutil.copy(INPUTS / "melt.lammps", folder)
    return ["lmp", "-var", "DUMPS", str(iterations), "-in", "melt.lammps"]


def openfoam(folder: Path, iterations: int) -> list[str]:
    """The mesh and its two parts are made before the recording."""
    shutil.copytree(INPUTS / "cavity", folder, dirs_exist_ok=True)
    settings = folder / "system/controlDict"
    text = settings.read_text(encoding="utf-8")
    step, every = (float(re.findall(rf"^{key} (.*);", text, re.MULTILINE)[0]) for key in ("deltaT", "writeInterval"))
    end = f"endTime {iterations * step * every:g};"
    settings.write_text(re.sub(r"^endTime .*;", end, text, flags=re.MULTILINE), encoding="utf-8")
    for tool in ("blockMesh", "decomposePar"):
        run([tool], folder)
    return ["icoFoam", "-parallel"]


def openfoam_missing() -> str | None:
    return uninstalled("icoFoam", "openfoam")() or (
        None if (OPENFOAM / "etc/controlDict").exists() else f"{OPENFOAM}/etc is missing (Debian: openfoam)"
    )


APPLICATIONS = (
    Application(
        "cloud-posix",
        "apps/cloud, an HDF5 file per process and phase: as CM1 with HDF5 over POSIX",
        150, 2, cloud(output="file-per-process"), unbuilt("cloud"),
    ),
    Application(
        "cloud-gzip",
        "the same, compressed: as CM1 with gzip; sizes vary",
        150, 2, cloud(output="file-per-process", gzip=4), unbuilt("cloud"),
    ),
    Application(
        "cloud-mpiio",
        "apps/cloud, one HDF5 file per phase by collective writes: as CM1 with parallel HDF5",
        150, 2, cloud(output="collective"), unbuilt("cloud"),
    ),
    Application(
        "branching",
        "apps/alloy, elements written by a line that depends on the data: as Nek5000",
        150, 2, mini_app("alloy", 2400), unbuilt("alloy"),
    ),
    Application(
        "gtc-like",
        "apps/gtc-like, a file per node and iteration in a loop over particles that move between ranks: as GTC",
        150, 2, mini_app("gtc-like", 170, particles=131072, group=128, ranks_per_file=1), unbuilt("gtc-like"),
    ),
    Application(
        "lammps",
        "a liquid: rank 0 appends the atoms of all ranks to two files, one rank's after the other",
        160, 2, lammps, uninstalled("lmp", "lammps"),
    ),
    Application(
        "openfoam",
        "icoFoam, a cavity under a lid that moves to and fro: each rank writes a folder of small text files per phase",
        150, 2, openfoam, openfoam_missing,
    ),
    Application(
        "shared-file",
        "apps/heat, MPI-IO: header, collective writes through a view, single writes, each snapshot read back",
        150, 2, mini_app("heat", 2800), unbuilt("heat"),
    ),
)  # fmt: skip


def find(name: str) -> Application:
    for application in APPLICATIONS:
        if application.name == name:
            return application
    raise KeyError(f"no application '{name}'; known: {', '.join(a.name for a in APPLICATIONS)}")


def run(command: list[str], folder: Path) -> None:
    environment = os.environ | MPI_ENVIRONMENT | {"WM_PROJECT_DIR": str(OPENFOAM)}
    environment["PYTHONPATH"] = os.pathsep.join([str(ROOT / "python"), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    if done.returncode != 0:
        told = (done.stdout + done.stderr)[-2000:]
        raise RuntimeError(f"{' '.join(command)}: exit code {done.returncode}\n{told}")


def record(application: Application, folder: Path, iterations: int | None = None) -> Path:
    """Runs it in `folder`, which is made and keeps its files, and returns the recorded run below it."""
    if reason := application.missing():
        raise RuntimeError(f"{application.name}: {reason}")
    folder.mkdir(parents=True)
    words = application.command(folder, iterations or application.iterations)
    place = folder.resolve() / f"{application.name}.halcyon"
    halcyon = [sys.executable, "-m", "halcyon", "run", *RECORDING, "-o", str(place), "--"]
    run([*halcyon, "mpirun.openmpi", "-n", str(application.ranks), *words], folder)
    return place


def main(words: list[str]) -> int:
    if not words:
        raise SystemExit((__doc__ or "").strip())
    folder = Path(words[0])
    for application in [find(name) for name in words[1:]] or APPLICATIONS:
        if reason := application.missing():
            print(f"{application.name}: left out: {reason}", file=sys.stderr)
            continue
        print(record(application, folder / application.name))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
