"""What an administrator gives Slurm: a prolog, an epilog, and the line by which srun finds its plugin."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

from halcyon.errors import HalcyonSystemError, UnavailableError, UsageError
from halcyon.installed_program import is_program
from halcyon.layers.preload import find_library
from halcyon.whole_file import whole_file

PLUGIN = "halcyon_slurm.so"
NAMES_COORDINATORS = "coordinators="
"""In plugstack.conf, before the path of coordinators.yaml."""
MARK = "# Made by `halcyon slurm install`."
"""In each file; others are not replaced."""

_SCRIPT = """\
#!/bin/sh
{mark} {does}.
# Whatever fails here, the job runs and the node stays in service.
{settings}timeout 20 {halcyon} slurm {verb} 2>&1 ||
    echo "halcyon: {fails} (exit status $?); the job goes on"
exit 0
"""


@dataclass(frozen=True)
class Installed:
    """Paths of what was written."""

    prolog: Path
    epilog: Path
    plug_stack: Path


def install(directory: Path, coordinators: Path | None = None) -> Installed:
    """Writes the files; `coordinators`: the coordinators.yaml of prolog, epilog and srun, if not this machine's.
    UnavailableError: this installation lacks the plugin, or its program has no path; UsageError: a file there is not
    ours, or Slurm cannot read the path of `coordinators`."""
    plugin, halcyon = find_plugin(), find_halcyon()
    settings = of_plugin = ""
    if coordinators is not None:
        file = str(coordinators.absolute())
        if any(sign.isspace() for sign in file):
            raise UsageError(f"--coordinators {file}: plugstack.conf cannot name a path with spaces; use another path")
        settings = f"export HALCYON_COORDINATORS_FILE={shlex.quote(file)}\n"
        of_plugin = f" {NAMES_COORDINATORS}{file}"
    made = Installed(*(directory.resolve() / name for name in ("prolog", "epilog", "plugstack.conf")))
    fill = {"mark": MARK, "halcyon": shlex.quote(str(halcyon)), "settings": settings}
    begins = {"verb": "prolog", "does": "Announces a job of Slurm to the coordinators: its name is its user's alone"}
    ends = {"verb": "epilog", "does": "Tells the coordinators that a job of Slurm has ended"}
    texts = {
        made.prolog: _SCRIPT.format(**fill, **begins, fails="this job is not announced to the coordinators"),
        made.epilog: _SCRIPT.format(**fill, **ends, fails="the coordinators were not told of the end of this job"),
        made.plug_stack: f"{MARK}\noptional {plugin} program={halcyon}{of_plugin}\n",
    }
    for path in texts:
        if path.exists() and MARK not in path.read_text(encoding="utf-8", errors="replace"):
            raise UsageError(f"{path}: exists, and was not made by halcyon slurm install; name another folder")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        for path, text in texts.items():
            with whole_file(path) as hidden:
                hidden.write_text(text, encoding="utf-8")
                hidden.chmod(0o644 if path == made.plug_stack else 0o755)
    except OSError as why:
        raise HalcyonSystemError.of(why, directory) from why
    return made


def lines_for(made: Installed) -> list[str]:
    """Of slurm.conf."""
    return [f"Prolog={made.prolog}", f"Epilog={made.epilog}", f"PlugStackConfig={made.plug_stack}"]


def find_plugin() -> Path:
    """UnavailableError: this installation was built without Slurm's headers."""
    try:
        return find_library(PLUGIN, "HALCYON_SLURM_PLUGIN")
    except UnavailableError as why:
        raise UnavailableError(f"{why}; it is built where slurm/spank.h is (Debian package libslurm-dev)") from why


def find_halcyon() -> Path:
    """The command of this installation, for programs that know no PATH."""
    for place in (Path(sys.argv[0]), Path(sys.executable).parent / "halcyon"):
        if place.name == "halcyon" and is_program(place):
            return place.absolute()
    raise UnavailableError(
        f"no command `halcyon` beside {sys.executable}; scripts of Slurm need its path: install the package with pip"
    )
