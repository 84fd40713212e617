"""Random faults against random configurations, for as long as one likes: what holds in the tests holds here, too.

    fault_campaign.py [--minutes M] [--seed S] [--rounds N]

Each round has a seed of its own, which is printed with what it did; `--seed S --rounds 1` repeats round S. A round that
breaks a promise keeps its directory, says which promise, and the campaign fails.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
from running import (
    Case,
    available_mpis,
    check_complete,
    expected_block,
    finish,
    living_servers_of,
    processes_of,
    wait_for,
)

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


def check_values(case: Case) -> dict[tuple[str, int, int], np.ndarray]:
    """Whatever is stored is right."""
    blocks = case.blocks()
    for (name, iteration, rank), block in blocks.items():
        np.testing.assert_array_equal(block, expected_block(name, iteration, rank, block.shape))
    return blocks


def recorded_missing(case: Case) -> set[tuple[str, int, int]]:
    found = set()
    for path in case.output.glob("tiny.[nc]*.h5"):
        with h5py.File(path) as file:
            if ".halcyon/missing" not in file:
                continue
            names = file[".halcyon/missing_variables"].asstr()[()]
            for name, (iteration, rank, _, _) in zip(names, file[".halcyon/missing"][()].tolist(), strict=True):
                found.add((str(name), iteration, rank))
    return found


def check(p: Plan, case: Case, ended: bool) -> None:
    """The promises. `ended`: all ranks ended in order."""
    wait_for(lambda: not living_servers_of(case), LIMIT_S, "the servers exit")
    assert not list(case.output.glob("*.tmp")), "half a file was left"
    blocks = check_values(case)
    if not ended:
        return
    missing = recorded_missing(case)
    if p.policy != "skip":
        assert not missing, f"recorded as missing: {sorted(missing)[:5]}"
        check_complete(case, p.iterations)
    for name in p.variables:
        for iteration in range(p.iterations):
            for rank in range(p.ranks):
                key = (name, iteration, rank)
                assert (key in blocks) != (key in missing), f"{key}: neither stored nor recorded as missing, or both"
    with h5py.File(case.output / "tiny.h5") as view:
        for name in p.variables:
            shown = view[name][...]
            assert shown.shape == (p.iterations, p.nz, 8, 16 * p.ranks), f"{name}: the view has shape {shown.shape}"
            for (of, iteration, rank), block in blocks.items():
                if of == name:
                    np.testing.assert_array_equal(shown[iteration, :, :, 16 * rank : 16 * (rank + 1)], block)


def play(p: Plan, directory: Path) -> None:
    case = Case(directory, p.mpi, ranks=p.ranks, variables=p.variables)
    case.configure(
        nz=str(p.nz), size=f"{p.buffer_bytes} B", attributes=p.attributes, store=p.store, resources=p.resources,
        buffer=f", when-full: {p.policy}, spill-directory: {directory}", server=p.server,
    )  # fmt: skip
    run = case.start(f"iterations={p.iterations}", *p.options, *(deadly(p) if p.fault in DEATHS else ()))
    strike(p, case, run)
    outcome = finish(run, LIMIT_S)
    harmless = p.fault in ("none", "server", "stop")
    assert not harmless or outcome.status == 0, f"status {outcome.status}: {outcome.text}"
    if outcome.status == 0 or case.output.is_dir():
        check(p, case, ended=outcome.status == 0 and len(outcome.ranks) == p.ranks)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=sys.maxsize)
    parser.add_argument("--seed", type=int, default=time.time_ns() % 1_000_000)
    arguments = parser.parse_args()
    mpis = available_mpis()
    if not mpis:
        print("error: no build and launcher of any MPI; run `make build`", file=sys.stderr)
        return 2
    end = time.monotonic() + 60 * arguments.minutes
    done, failed = 0, []
    while done < arguments.rounds and time.monotonic() < end:
        p = plan(arguments.seed + done, mpis)
        done += 1
        directory = Path(tempfile.mkdtemp(prefix=f"halcyon-fault-{p.seed}-"))
        try:
            play(p, directory)
        except AssertionError as why:
            failed.append(p.seed)
            print(f"seed {p.seed} broke a promise, see {directory}\n  {p}\n  {why}", flush=True)
            continue
        shutil.rmtree(directory)
        print(
            f"seed {p.seed}: {p.fault}, {p.policy}, {p.mpi}, {p.ranks} rank(s), {p.iterations} iterations", flush=True
        )
    print(f"{done} rounds, {len(failed)} failed{': seeds ' + ' '.join(map(str, failed)) if failed else ''}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
