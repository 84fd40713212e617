"""Random faults at random moments against random configurations; everything but the moments follows from a seed."""

import os
import random
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from promises import promise
from running import Case, check_complete, finish, living_servers_of, processes_of, wait_for
from stored import check_nothing_is_half_done, check_values, check_view, recorded_missing, total

LIMIT_S = 120
DEATHS = ("abort", "exit")


@dataclass(frozen=True)
class Plan:
    """What a round does; everything follows from its seed."""

    seed: int
    mpi: str
    ranks: int
    variables: tuple[str, ...]
    nz: int
    policy: str
    attributes: str
    store: str
    resources: str
    server: str
    room: int
    """Iterations that the buffer holds, besides the largest block."""
    iterations: int
    options: tuple[str, ...]
    fault: str
    after_s: float
    repeats: int

    @property
    def buffer_bytes(self) -> int:
        block = self.nz * 8 * 16 * 4
        files = int(self.store.rpartition("file: ")[2].split(",")[0]) if "file: " in self.store else 1
        arena = block * (len(self.variables) * max(self.room, files) + 1)
        return self.ranks * (arena + 8192) + (4 << 20)


def plan(seed: int, mpis: list[str]) -> Plan:
    chance = random.Random(seed)
    mpi = chance.choice(mpis)
    files = chance.choice([1, 1, 2, 5])
    return Plan(
        seed=seed,
        mpi=mpi,
        ranks=2 if mpi == "mpich" else chance.choice([1, 2, 3, 5]),
        variables=tuple(["theta", "höhe", "q", "p"][: chance.randint(1, 4)]),
        nz=chance.choice([1, 4, 32, 200]),
        policy=chance.choice(["block", "block", "spill", "inline", "skip"]),
        attributes=chance.choice(["", "", ", compression: gzip", ", compression: when-idle", ", when-full: spill"]),
        store=chance.choice(["", f", iterations-per-file: {files}", ", index: true", ", durable: true"]),
        resources=chance.choice(["", "", "  servers-per-node: 2"]),
        server=f"threads: {chance.choice([1, 1, 3])}, max-restarts: {chance.choice([0, 3, 3, 20])}",
        room=chance.choice([1, 1, 2, 10]),
        iterations=chance.randint(2, 60),
        options=(
            f"pause_ms={chance.choice([0, 0, 1, 5, 20])}",
            f"zero_copy={chance.choice([0, 1])}",
            chance.choice(["together=0", "together=1", "lockstep=1"]),
            f"wait={chance.choice(['none', 'none', 'none', 'stored', 'durable'])}",
        ),
        fault=chance.choice(["none", "server", "server", "server", "client", *DEATHS, "stop", "launcher"]),
        after_s=chance.uniform(0, chance.choice([0.05, 0.3, 1.0])),
        repeats=chance.randint(1, 3),
    )


def deadly(p: Plan) -> tuple[str, ...]:
    """A rank that ends itself in the middle of an iteration."""
    chance = random.Random(p.seed + 1)
    return (f"die={p.fault}", f"die_rank={chance.randrange(p.ranks)}", f"die_at={chance.randrange(p.iterations)}")


def strike(p: Plan, case: Case, run: "subprocess.Popen[str]") -> None:
    """Does what the plan says, if there is still something to do it to."""
    chance = random.Random(p.seed + 1)
    if p.fault == "none" or p.fault in DEATHS:
        return
    time.sleep(p.after_s)
    for _ in range(p.repeats if p.fault in ("server", "stop") else 1):
        if run.poll() is not None:
            return
        with suppress(ProcessLookupError, FileNotFoundError):
            if p.fault in ("server", "stop"):
                living = living_servers_of(case)
                if not living:
                    return
                victim = chance.choice(living)
                os.kill(victim, signal.SIGKILL if p.fault == "server" else signal.SIGSTOP)
                time.sleep(chance.uniform(0, 0.3))
                if p.fault == "stop":
                    os.kill(victim, signal.SIGCONT)
            elif p.fault == "launcher":
                run.kill()
            elif ranks := processes_of(run):
                os.kill(chance.choice(ranks), signal.SIGKILL)


def check(p: Plan, case: Case, ranks: dict[int, dict[str, Any]] | None) -> None:
    """The promises. `ranks`: what each told at its end; None: not all ended in order."""
    with promise("the end"):
        wait_for(lambda: not living_servers_of(case), LIMIT_S, "the servers exit")
        assert not list(case.output.glob("*.tmp")), "half a file was left"
    with promise("values"):
        blocks = check_values(case)
        if ranks is None:
            return
        missing = recorded_missing(case)
        if p.policy != "skip":
            assert not missing, f"recorded as missing: {sorted(missing)[:5]}"
            check_complete(case, p.iterations)
        for key in ((n, i, r) for n in p.variables for i in range(p.iterations) for r in range(p.ranks)):
            assert (key in blocks) != (key in missing), f"{key}: neither stored nor recorded as missing, or both"
        check_view(case, blocks, p.iterations, p.nz)
    with promise("counts"):
        assert (total(case, "blocks"), total(case, "missing_blocks")) == (len(blocks), len(missing))
        for told in ("skipped", "spilled", "inlined"):
            assert total(case, f"{told}_blocks") == sum(rank[told] for rank in ranks.values()), told
        check_nothing_is_half_done(case)


def launcher_hangs(p: Plan, case: Case, run: "subprocess.Popen[str]") -> bool:
    """Open MPI's may, when a rank is killed within MPI_Init: there is no session yet, and all is ended here."""
    if p.fault != "client":
        return False
    with suppress(subprocess.TimeoutExpired):
        run.wait(LIMIT_S)
    if run.poll() is not None or case.output.exists():
        return False
    for rank in processes_of(run):
        with suppress(ProcessLookupError):
            os.kill(rank, signal.SIGKILL)
    run.kill()
    run.communicate()
    return True


def play(p: Plan, directory: Path) -> bool:
    """False: the launcher hung before there was a session."""
    case = Case(directory, p.mpi, ranks=p.ranks, variables=p.variables)
    case.configure(
        nz=str(p.nz), size=f"{p.buffer_bytes} B", attributes=p.attributes, store=p.store, resources=p.resources,
        buffer=f", when-full: {p.policy}, spill-directory: {directory}", server=p.server,
    )  # fmt: skip
    run = case.start(f"iterations={p.iterations}", *p.options, *(deadly(p) if p.fault in DEATHS else ()))
    strike(p, case, run)
    if launcher_hangs(p, case, run):
        return False
    with promise("the end"):
        outcome = finish(run, LIMIT_S)
        harmless = p.fault in ("none", "server", "stop")
        assert not harmless or outcome.status == 0, f"status {outcome.status}: {outcome.text}"
    if outcome.status == 0 or case.output.is_dir():
        in_order = outcome.status == 0 and len(outcome.ranks) == p.ranks
        check(p, case, outcome.ranks if in_order else None)
    return True
