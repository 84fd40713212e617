"""Applications of the studies of Δ-graphs: commands on a test bed, each as simple as IOR's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from halcyon.delta.commands import Command
from halcyon.testbed.place import MOUNTS, mount_point
from halcyon.testbed.plan import Plan

MIB = 1 << 20
PAYLOAD = 0.95
"""Share of a link's rate that is data."""
Mount = tuple[str, int]
"""Host, and which of its mounts."""


@dataclass(frozen=True)
class Application:
    """A command; files that are put onto storage hosts before it runs; cores; its weight against others; the share of
    the storage's bandwidth that it takes alone; processes that must be at the gate."""

    command: Command
    placed: tuple[tuple[str, str], ...]
    cores: int
    weight: float
    demand: float
    arrive: int


@dataclass(frozen=True)
class Writers:
    """One writer on each mount, of `files` files of `file_bytes`, one after the other, in calls of `call_bytes`; the
    writers are spread evenly over the storage hosts. `tells`: they say beforehand how much they write
    (told_writer.py); else they are fio's, which says nothing."""

    mounts: Sequence[Mount]
    file_bytes: int
    files: int = 1
    call_bytes: int = MIB
    tells: bool = True

    def application(self, name: str, plan: Plan) -> Application:
        hosts = list(dict.fromkeys(host for host, _ in self.mounts))
        cases = "".join(self._case(host) for host in hosts)
        command = self._told(name) if self.tells else self._fio(name)
        names = [
            f"{name}-{host}.{job}.{file}"
            for host in hosts for job in range(sum(one == host for one, _ in self.mounts)) for file in range(self.files)
        ]  # fmt: skip
        servers = [host.name for host in plan.storage_hosts]
        placed = tuple((file, servers[i // self.files % len(servers)]) for i, file in enumerate(names))
        words = ("sh", "-c", f'case "$(hostname)" in {cases} esac; exec {command}')
        writers = len(self.mounts)
        demand = _demand(plan, len(hosts), writers)
        return Application(Command(name, words, tuple(hosts)), placed, writers, writers, demand, len(hosts))

    def smaller(self, factor: float) -> "Writers":
        """The same with less data, in whole calls of 1 MiB."""
        file_bytes = max(MIB, round(self.file_bytes / factor / MIB) * MIB)
        whole = self.call_bytes == self.file_bytes
        return replace(self, file_bytes=file_bytes, call_bytes=file_bytes if whole else self.call_bytes)

    def _told(self, name: str) -> str:
        return (
            f'"$HALCYON_PYTHON" "$HALCYON_ROOT/bench/study/told_writer.py" {name}-$(hostname) {self.call_bytes} '
            f"{self.file_bytes} {self.files} $at"
        )

    def _fio(self, name: str) -> str:
        return (
            f"fio --thread --name={name}-$(hostname) --directory=$(echo $at | tr ' ' :) --numjobs=$jobs "
            f"--nrfiles={self.files} --size={self.files * self.file_bytes} --bs={self.call_bytes} "
            "--file_service_type=sequential --rw=write --direct=1 --fallocate=none --create_on_open=1 "
            "--group_reporting --output=/dev/null"
        )

    def _case(self, host: str) -> str:
        at = [str(mount_point(host, i)) for one, i in self.mounts if one == host]
        return f"{host}) at='{' '.join(at)}' jobs={len(at)} ;;"


@dataclass(frozen=True)
class Ranks:
    """An MPI job whose ranks write every n-th block of one file in collective calls: ROMIO's two-phase I/O. They say
    beforehand how much, as the thesis's do."""

    hosts: Sequence[str]
    per_host: int
    block_bytes: int
    blocks: int
    """In one call of each rank."""
    calls: int

    def application(self, name: str, plan: Plan) -> Application:
        program = '"$HALCYON_BUILD/apps/interleaved/interleaved_writes"'
        ranks = self.per_host * len(self.hosts)
        at = ",".join(f"{host}:{self.per_host}" for host in self.hosts)
        file = f"{MOUNTS}/$(hostname)/0/{name}"
        write = f"exec {program} {file} {self.block_bytes} {self.blocks} {self.calls} collective told"
        words = (
            "mpirun.openmpi",
            "--host",
            at,
            "-n",
            str(ranks),
            "-x",
            "HALCYON_BUILD",
            "--mca",
            "io",
            "romio321",
            "sh",
            "-c",
            write,
        )
        command = Command(name, words, (self.hosts[0],))
        # One rank opens the file, and is held there; the others wait for it.
        return Application(command, ((name, plan.storage_hosts[0].name),), ranks, len(self.hosts), 1.0, 1)

    def smaller(self, factor: float) -> "Ranks":
        """The same in fewer calls."""
        return Ranks(self.hosts, self.per_host, self.block_bytes, self.blocks, max(1, round(self.calls / factor)))


@dataclass(frozen=True)
class Lammps:
    """LAMMPS, unmodified: a liquid, of which rank 0 writes the places of all atoms to one file, in LAMMPS's binary
    form, `dumps` times and at the begin, `every` steps apart. Each of `cells` to the third cells has 4 atoms of 40
    bytes. Steps that take less than a pause of the Δ-graph would make one phase of several writes."""

    host: str
    ranks: int
    cells: int
    dumps: int
    every: int

    def application(self, name: str, plan: Plan) -> Application:
        file = f"{name}.bin"
        told = {"dump": mount_point(self.host, 0) / file, "cells": self.cells, "dumps": self.dumps, "every": self.every}
        variables = " ".join(f"-var {key} {value}" for key, value in told.items())
        run = f'exec lmp -log none -in "$HALCYON_ROOT/bench/study/liquid.lammps" {variables}'
        words = (
            "mpirun.openmpi", "--host", f"{self.host}:{self.ranks}", "-n", str(self.ranks), "-x", "HALCYON_ROOT",
            "sh", "-c", run,
        )  # fmt: skip
        command = Command(name, words, (self.host,))
        return Application(command, ((file, plan.storage_hosts[0].name),), self.ranks, 1, _demand(plan, 1, 1), 1)

    def smaller(self, factor: float) -> "Lammps":
        """The same with fewer atoms."""
        return replace(self, cells=max(8, round(self.cells / factor ** (1 / 3))))


def mounts(hosts: Sequence[str], each: int) -> list[Mount]:
    """So many of each host."""
    return [(host, i) for host in hosts for i in range(each)]


def some(of: Sequence[Mount], first: int, count: int) -> list[Mount]:
    return list(islice(of, first, first + count))


def _demand(plan: Plan, hosts: int, writers: int) -> float:
    """Share of the storage's rate: bounded by the links of its hosts, and by the storage hosts of its files."""
    rates = (
        hosts * (plan.compute_link_bits_per_s or 10**12),
        min(writers, plan.storage) * plan.storage_link_bits_per_s,
    )
    return min(1.0, min(rates) / (plan.storage * plan.storage_link_bits_per_s))


def bandwidth(plan: Plan) -> int:
    """Bytes/s of data that the storage links carry together."""
    return round(plan.storage * plan.storage_link_bits_per_s / 8 * PAYLOAD)
