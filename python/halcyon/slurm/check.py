"""Whether Slurm is set up for Halcyon, by its configuration."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halcyon.coordinate.configuration import default_file, read_coordinators
from halcyon.coordinate.connection import connect_to_any
from halcyon.errors import HalcyonError, HalcyonSystemError, UnavailableError
from halcyon.installed_program import is_program
from halcyon.slurm.announce import PATIENCE_S
from halcyon.slurm.installation import NAMES_COORDINATORS, PLUGIN

_DEFAULT_FOLDER = Path("/etc/slurm")


@dataclass(frozen=True)
class Finding:
    """One thing that has to be so."""

    what: str
    """It is so; or what is wrong."""
    way_out: str = ""
    """Empty: it is in order."""


def slurm_conf() -> Path:
    """Of this machine, as Slurm's own commands find it."""
    return Path(os.environ.get("SLURM_CONF") or _DEFAULT_FOLDER / "slurm.conf")


def check(conf: Path) -> list[Finding]:
    """HalcyonSystemError: a file cannot be read."""
    if not conf.exists():
        missing = Finding(f"{conf}: no such file", "name Slurm's configuration: --conf FILE, or SLURM_CONF")
        return [missing, *_check_coordinators(default_file())]
    values = dict(_settings(conf))
    scripts = [_check_script(values, kind, conf) for kind in ("Prolog", "Epilog")]
    stack = _plug_stack(values, conf)
    return [_check_plug_stack(stack), *scripts, *_check_coordinators(_coordinators_of(stack) or default_file())]


def _settings(conf: Path) -> Iterator[tuple[str, str]]:
    """Names in small letters, since Slurm ignores their case; included files as well."""
    for line in _lines_of(conf):
        if included := re.fullmatch(r"include\s+(\S+)", line, re.IGNORECASE):
            yield from _settings(conf.parent / included[1])
        elif "=" in line:
            name, _, value = line.partition("=")
            yield name.strip().lower(), value.strip()


def _lines_of(file: Path) -> list[str]:
    """Without comments."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError as why:
        raise HalcyonSystemError.of(why, file) from why
    return [line for each in text.splitlines() if (line := each.partition("#")[0].strip())]


def _plug_stack(values: dict[str, str], conf: Path) -> Path:
    return Path(values.get("plugstackconfig", str(conf.parent / "plugstack.conf")))


def _check_plug_stack(stack: Path) -> Finding:
    way = f"add to it the line of the plugstack.conf that `halcyon slurm install` wrote: optional …/{PLUGIN} program=…"
    if not stack.exists():
        return Finding(f"{stack}: no such file, so that srun has no --halcyon", f"make it, and {way}")
    for words in _lines_of_plugin(stack):
        if not Path(words[1]).is_file():
            return Finding(f"{stack}: {words[1]}: no such file", "build where slurm/spank.h is, then install again")
        if words[0] != "optional":
            return Finding(f"{stack}: the plugin is '{words[0]}'", "make it 'optional': no job fails for it then")
        program = _value_of("program=", words) or "halcyon"
        if program.startswith("/") and not is_program(Path(program)):
            return Finding(f"{stack}: {program}: no such program", "run `halcyon slurm install` again")
        return Finding(f"{stack}: srun has the option --halcyon")
    return Finding(f"{stack}: without the plugin, so that srun has no --halcyon", way)


def _coordinators_of(stack: Path) -> Path | None:
    """The file that srun reads; None: plugstack.conf names none."""
    named = (_value_of(NAMES_COORDINATORS, words) for words in _lines_of_plugin(stack))
    return next((Path(file) for file in named if file), None)


def _value_of(begin: str, words: list[str]) -> str:
    return next((word.removeprefix(begin) for word in words[2:] if word.startswith(begin)), "")


def _lines_of_plugin(stack: Path) -> Iterator[list[str]]:
    if stack.exists():
        yield from (words for words in _plugins(stack) if Path(words[1]).name == PLUGIN)


def _plugins(stack: Path) -> Iterator[list[str]]:
    """Lines of plugstack.conf and of what it includes."""
    for line in _lines_of(stack):
        words = line.split()
        if words[0] == "include" and len(words) == 2:
            pattern = Path(words[1]) if words[1].startswith("/") else stack.parent / words[1]
            for file in sorted(pattern.parent.glob(pattern.name)):
                yield from _plugins(file)
        elif len(words) >= 2:
            yield words


def _check_script(values: dict[str, str], kind: str, conf: Path) -> Finding:
    """On the nodes, or at the controller: either will do."""
    named = [path for key in (kind, f"{kind}Slurmctld") if (path := values.get(key.lower()))]
    verb = f"slurm {kind.lower()}"
    effect = "names of jobs can be claimed by others" if kind == "Prolog" else "jobs that were killed keep their turns"
    if not named:
        return Finding(f"{conf}: no {kind}, so that {effect}", f"add {kind}=… as `halcyon slurm install` says it")
    scripts = [file for path in named for file in sorted(Path(path).parent.glob(Path(path).name))]
    for script in scripts:
        if not os.access(script, os.R_OK) or verb not in script.read_text(encoding="utf-8", errors="replace"):
            continue
        if not is_program(script):
            return Finding(f"{script}: not executable", f"chmod 755 {script}")
        return Finding(f"{script}: tells the coordinators of jobs")
    if not scripts:
        return Finding(f"{named[0]}: no such file, so that {effect}", "run `halcyon slurm install` again")
    return Finding(
        f"{named[0]}: does not call Halcyon's, so that {effect}",
        f"call in it the {kind.lower()} that `halcyon slurm install` wrote",
    )


def _check_coordinators(file: Path) -> Iterator[Finding]:
    if not file.exists():
        yield Finding(f"{file}: no such file: jobs find no coordinator", "write it: see the coordinator's manual")
        return
    for one in read_coordinators(file):
        try:
            connect_to_any(one.addresses, one.munge_socket, PATIENCE_S, one.user).close()
            yield Finding(f"{one.name}: answers at {', '.join(map(str, one.addresses))}")
        except UnavailableError as why:
            start = f"halcyon coordinator run --name {one.name}"
            yield Finding(f"{one.name}: {why}", f"start it: {start}; if it runs, look at the network, and at MUNGE")
        except HalcyonError as why:
            yield Finding(f"{one.name}: {why}", "see the coordinator's manual, 'Permissions'")
