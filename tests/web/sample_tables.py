"""The tables of a sample run, as an analysis of it gives them; straight from the calls, in plain SQL."""

import json
import statistics
from pathlib import Path

import duckdb

from halcyon.observe.viewer import document as d

BINS = 360


def document_of(folder: Path) -> d.Document:
    """The document of the data set in `folder`, without its timeline."""
    with duckdb.connect() as database:
        database.read_parquet(str(folder / "calls" / "*.parquet")).create_view("calls")
        for name in ("processes", "files", "facts", "absences"):
            database.read_parquet(str(folder / f"{name}.parquet")).create_view(name)
        return _Tables(database, json.loads((folder / "run.json").read_text())).document()


class _Tables:
    def __init__(self, database: duckdb.DuckDBPyConnection, info: dict[str, object]) -> None:
        self.rows = lambda query: database.execute(query).fetchall()
        self.info = info
        self.duration_s = float(str(info["duration_ns"])) / 1e9
        self.mpi = info["ranks"] is not None

    def document(self) -> d.Document:
        phases = self.phases()
        return d.Document(
            run=self.run(),
            facts=[d.Fact(*row) for row in self.rows("SELECT key, value FROM facts ORDER BY key")],
            absences=[
                d.Absence(*row)
                for row in self.rows(
                    "SELECT what, subject, sum(count)::BIGINT, nullif(count(DISTINCT process), 0), any_value(detail)"
                    " FROM absences GROUP BY ALL ORDER BY what"
                )
            ],
            bandwidths=self.bandwidths(phases),
            times=[
                d.TimeSpent(*row)
                for row in self.rows(
                    "SELECT level, kind, count(*), count(error), coalesce(sum(moved) FILTER (kind IN ('read','write')), 0)::BIGINT,"
                    " sum(duration_ns) / 1e9, sum(self_ns) / 1e9, 0.0::DOUBLE FROM calls GROUP BY ALL ORDER BY ALL"
                )
            ],
            functions=self.functions(),
            parts=[
                d.Part(*row)
                for row in self.rows(
                    "SELECT parent_level, parent_call, level, call, kind, count(*), coalesce(sum(moved), 0)::BIGINT,"
                    " sum(duration_ns) / 1e9 FROM calls WHERE parent_call IS NOT NULL GROUP BY ALL ORDER BY ALL"
                )
            ],
            durations=self.durations(),
            concurrency=self.concurrency(),
            phases=phases,
            stragglers=self.stragglers(phases),
            sizes=[
                d.SizeBin(level, kind, 2**power, 2 ** (power + 1), calls, size)
                for level, kind, power, calls, size in self.rows(
                    "SELECT level, kind, floor(log2(bytes))::BIGINT, count(*), sum(bytes)::BIGINT FROM calls"
                    " WHERE kind IN ('read', 'write') AND bytes > 0 GROUP BY ALL ORDER BY ALL"
                )
            ],
            files=self.files(),
            servers=self.servers(),
            findings=self.findings() if self.mpi else [],
        )

    def run(self) -> d.Run:
        [(processes, hosts)] = self.rows("SELECT count(*), count(DISTINCT host) FROM processes")
        [(files,)] = self.rows("SELECT count(*) FROM files")
        [(calls,)] = self.rows("SELECT count(*) FROM calls")
        info = self.info
        return d.Run(
            title="sedov" if self.mpi else "state files",
            source=str(info["source"]),
            command=str(info["command"]),
            user=str(info["user"]),
            job=str(info["job"]),
            start_epoch_s=float(str(info["start"])),
            duration_s=self.duration_s,
            ranks=int(str(info["ranks"])) if self.mpi else None,
            processes=processes,
            hosts=hosts,
            files=files,
            calls=calls,
            filesystems=[name for (name,) in self.rows("SELECT DISTINCT filesystem FROM files ORDER BY ALL")],
        )

    def bandwidths(self, phases: list[d.Phase]) -> list[d.Bandwidth]:
        busy_s = sum(phase.end_s - phase.start_s for phase in phases) or 1.0
        bandwidths = []
        for kind in ("read", "write"):
            [(moved, seconds, mpi_moved, mpi_s)] = self.rows(
                "SELECT coalesce(sum(moved) FILTER (level = 'posix'), 0)::BIGINT,"
                " coalesce(sum(duration_ns) FILTER (level = 'posix'), 0) / 1e9,"
                " coalesce(sum(moved) FILTER (level = 'mpiio'), 0)::BIGINT,"
                " coalesce(sum(duration_ns) FILTER (level = 'mpiio'), 0) / 1e9"
                f" FROM calls WHERE kind = '{kind}'"
            )
            effective = moved / seconds if seconds else None
            ranks = int(str(self.info["ranks"] or 1))
            perceived = mpi_moved / busy_s if mpi_s else None
            bandwidths.append(
                d.Bandwidth(
                    file=None,
                    kind=kind,
                    bytes=moved,
                    perceived_mpi=perceived,
                    effective_mpi=mpi_moved / mpi_s if mpi_s else None,
                    effective_posix=effective,
                    perceived_posix=perceived,
                    perceived_posix_low=perceived,
                    perceived_posix_high=effective * ranks if effective and perceived else None,
                )
            )
        return bandwidths

    def functions(self) -> list[d.FunctionShares]:
        rows = self.rows(
            "SELECT p.level, p.call, p.calls, p.seconds, coalesce(c.lock, 0), coalesce(c.read, 0), coalesce(c.write, 0),"
            " coalesce(c.unlock, 0) FROM (SELECT level, call, count(*) AS calls, sum(duration_ns) / 1e9 AS seconds"
            " FROM calls WHERE level = 'mpiio' GROUP BY ALL) p LEFT JOIN (SELECT parent_call AS call,"
            " sum(duration_ns) FILTER (kind = 'lock') / 1e9 AS lock, sum(duration_ns) FILTER (kind = 'read') / 1e9 AS read,"
            " sum(duration_ns) FILTER (kind = 'write') / 1e9 AS write,"
            " sum(duration_ns) FILTER (kind = 'unlock') / 1e9 AS unlock FROM calls WHERE level = 'posix' GROUP BY ALL) c"
            " USING (call) ORDER BY seconds DESC"
        )
        return [
            d.FunctionShares(level, call, calls, s, lock, read, write, unlock, 0.0, s - lock - read - write - unlock)
            for level, call, calls, s, lock, read, write, unlock in rows
        ]

    def concurrency(self) -> d.Concurrency:
        bin_s = self.duration_s / BINS
        width = int(bin_s * 1e9)
        means: dict[tuple[str, str], list[float]] = {}
        for level, kind, index, busy_ns in self.rows(
            "SELECT level, kind, bin,"
            f" sum(least(start_ns + duration_ns, (bin + 1) * {width}) - greatest(start_ns, bin * {width}))::DOUBLE"
            f" FROM (SELECT *, unnest(range(start_ns // {width}, (start_ns + duration_ns) // {width} + 1)) AS bin"
            f" FROM calls) WHERE bin < {BINS} GROUP BY ALL ORDER BY ALL"
        ):
            means.setdefault((level, kind), [0.0] * BINS)[index] = float(busy_ns) / width
        return d.Concurrency(bin_s, [d.ConcurrencySeries(level, kind, mean) for (level, kind), mean in means.items()])

    def durations(self) -> list[d.Distribution]:
        shares = [i / 100 for i in range(101)]
        rows = self.rows(f"SELECT call, quantile_cont(duration_ns / 1e9, {shares}) FROM calls GROUP BY call ORDER BY call")
        return [d.Distribution(call, seconds, shares) for call, seconds in rows]

    def phases(self) -> list[d.Phase]:
        rows = self.rows(
            "SELECT start_ns // 20_000_000_000 AS phase, process, sum(duration_ns) / 1e9, min(start_ns) / 1e9,"
            " max(start_ns + duration_ns) / 1e9, sum(moved)::BIGINT FROM calls"
            " WHERE parent_level IS NULL AND level <> 'stdio' AND start_ns >= 20_000_000_000 GROUP BY ALL ORDER BY ALL"
        )
        phases = []
        for number in sorted({row[0] for row in rows}):
            own = [row for row in rows if row[0] == number]
            seconds = [row[2] for row in own]
            moved = sum(row[5] for row in own)
            phases.append(
                d.Phase(
                    number=number,
                    kind="write",
                    start_s=min(row[3] for row in own),
                    end_s=max(row[4] for row in own),
                    bytes=moved,
                    throughput=moved / max(seconds),
                    ranks=[row[1] for row in own],
                    seconds=seconds,
                    variation=statistics.pstdev(seconds) / statistics.mean(seconds),
                    max_over_median=max(seconds) / statistics.median(seconds),
                )
            )
        return phases

    def stragglers(self, phases: list[d.Phase]) -> list[d.Straggler]:
        stragglers = []
        hosts = dict(self.rows("SELECT process, host FROM processes"))
        for rank in sorted({rank for phase in phases for rank in phase.ranks}):
            factors = []
            lost = 0.0
            for phase in phases:
                median = statistics.median(phase.seconds)
                own = phase.seconds[phase.ranks.index(rank)]
                factors.append(own / median)
                lost += max(0.0, own - median)
            slow = sum(factor > 1.5 for factor in factors)
            if slow > len(factors) / 2:
                stragglers.append(
                    d.Straggler("write", rank, hosts[rank], len(factors), slow, statistics.median(factors), 1.0, lost)
                )
        return stragglers

    def files(self) -> list[d.File]:
        rows = self.rows(
            "SELECT f.file, path, filesystem, block_bytes, stripe_bytes, coalesce(servers, []),"
            " count(*) FILTER (kind = 'open'), count(*) FILTER (kind = 'stat'), count(*) FILTER (kind = 'sync'), count(*) FILTER (kind = 'read'), count(*) FILTER (kind = 'write'),"
            " coalesce(sum(moved) FILTER (kind = 'read'), 0)::BIGINT,"
            " coalesce(sum(moved) FILTER (kind = 'write'), 0)::BIGINT, coalesce(sum(duration_ns), 0) / 1e9,"
            " count(*) FILTER (kind IN ('read', 'write')) * 7 // 10, count(*) FILTER (kind = 'write') // 10,"
            " count(*) FILTER (kind = 'read') // 20, count(*) FILTER (kind = 'write' AND bytes < 4096),"
            " count(*) FILTER (kind = 'write' AND \"offset\" % 4096 <> 0), NULL, list_sort(list(DISTINCT process))"
            " FROM files f LEFT JOIN (SELECT * FROM calls WHERE level IN ('posix', 'stdio')) USING (file)"
            " GROUP BY ALL ORDER BY f.file"
        )
        return [d.File(*row) for row in rows]

    def servers(self) -> d.Servers | None:
        known = self.rows("SELECT file, servers FROM files WHERE servers IS NOT NULL")
        if not known:
            return None
        bin_s = self.duration_s / BINS
        names = sorted({name for _, servers in known for name in servers})
        weights = {name: 3.0 if name == names[2] else 1.0 for name in names}
        activity = {(name, kind): [0.0] * BINS for name in names for kind in ("read", "write")}
        of_file = dict(known)
        for file, kind, index, moved in self.rows(
            f"SELECT file, kind, least(start_ns // {int(bin_s * 1e9)}, {BINS - 1}), sum(moved) FROM calls"
            " WHERE level = 'posix' AND kind IN ('read', 'write') GROUP BY ALL"
        ):
            on = of_file.get(file, [])
            total = sum(weights[name] for name in on)
            for name in on:
                activity[name, kind][index] += float(moved) * weights[name] / total
        servers = [
            d.Server(
                name,
                sum(name in on for on in of_file.values()),
                int(sum(activity[name, "read"])),
                int(sum(activity[name, "write"])),
                activity[name, "read"],
                activity[name, "write"],
            )
            for name in names
        ]
        loads = [server.bytes_read + server.bytes_written for server in servers]
        return d.Servers(bin_s, max(loads) / statistics.mean(loads), servers, 12_582_912)

    def findings(self) -> list[d.Finding]:
        [(read_s, read_bytes, cycles)] = self.rows(
            "SELECT sum(duration_ns) FILTER (kind IN ('read', 'lock', 'unlock')) / 1e9,"
            " sum(moved) FILTER (kind = 'read')::BIGINT, count(*) FILTER (kind = 'lock') FROM calls"
            " WHERE parent_level = 'mpiio'"
        )
        return [
            d.Finding(
                key="data-sieving",
                title="Data sieving reads what was never written",
                severity="high",
                explanation="MPI-IO writes each part in cycles of lock, read, write and unlock. 80 % of the reads found"
                " nothing: the data is new, there was nothing to keep.",
                change="Set the MPI-IO hint romio_ds_write to disable.",
                seconds_lost=read_s,
                estimate="time of the lock, read and unlock calls of those cycles, summed over all ranks",
                calls=cycles * 4,
                bytes=read_bytes,
                evidence=[d.Evidence("cycles of lock, read, write, unlock", f"{cycles:,}"), d.Evidence("reads that found nothing", "80 %")],
                files=list(range(1, len(self.files()) - 1)),
                ranks=[],
                start_s=20.0,
                end_s=self.duration_s,
            ),
            d.Finding(
                key="slow-rank",
                title="Rank 7 is slower than the others in every phase",
                severity="medium",
                explanation="All ranks wait for it at the end of each checkpoint.",
                change="Look at node001: its network card, its memory, who else runs there.",
                seconds_lost=14.2,
                estimate="rank 7's time less the median of all ranks, summed over the phases",
                calls=None,
                bytes=None,
                evidence=[d.Evidence("its time against the median", "2.4 times")],
                files=[],
                ranks=[7],
                start_s=None,
                end_s=None,
            ),
            d.Finding(
                key="misaligned",
                title="Writes begin in the middle of file system blocks",
                severity="low",
                explanation="The first byte of the data lies 2,048 bytes into the file, blocks have 4,096.",
                change="Set the HDF5 property H5Pset_alignment(fapl, 1, 1048576).",
                seconds_lost=None,
                estimate=None,
                calls=cycles,
                bytes=None,
                evidence=[],
                files=[1],
                ranks=[],
                start_s=None,
                end_s=None,
            ),
        ]
