"""Configurations with plugins of tests/insitu/plugins, and what those leave."""

from pathlib import Path

from running import BUILDS, RUN_OF, Case, expected_block


def library(case: Case, name: str) -> Path:
    """A plugin's shared library."""
    return BUILDS[case.mpi] / f"tests/lib{name}_plugin.so"


def faulty(case: Case, *faults: str, keys: str = "", scope: str = "client") -> str:
    """An event `each` of plugins bad0, bad1, … that do what they should not; each fault as its options say, and the
    keys of its action: "do: hang, at: 2 | timeout: 1 s". `keys`: of all."""
    module = f"type: module, module: {library(case, 'faulty')}, function: faulty{keys}"
    actions = []
    for i, fault in enumerate(faults):
        options, _, own = fault.partition(" | ")
        own = f", {own}" if own else ""
        actions.append(f"  bad{i}: {{{module}{own}, options: {{name: bad{i}, {options}}}}}")
    names = ", ".join(f"bad{i}" for i in range(len(faults)))
    return "\n".join([f"events:\n  each: {{actions: [{names}], scope: {scope}}}\nactions:", *actions])


def good_runs(case: Case, name: str = "bad0") -> list[tuple[int, int]]:
    """(iteration, rank) of each run of a plugin that went well, having seen its block as it was written."""
    path = case.output / "faulty.txt"
    shape = next(iter(case.blocks().values())).shape
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        who, *told = line.split()
        if who != name:
            continue
        iteration, rank, blocks, total = told
        assert int(blocks) == 1
        assert float(total) == float(expected_block("theta", int(iteration), int(rank), shape).sum(dtype=float))
        found.append((int(iteration), int(rank)))
    return sorted(found)


def workers_of(case: Case) -> list[int]:
    """Processes in which plugins of this case run now."""
    found = []
    mark = f"{RUN_OF}={case.directory}".encode()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            named = (process / "comm").read_text().strip() == "halcyon-worker"
            alive = (process / "stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
            if named and alive and mark in (process / "environ").read_bytes().split(b"\0"):
                found.append(int(process.name))
        except OSError:
            continue
    return found
