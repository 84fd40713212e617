"""Turns traces, Halcyon's own and those of other tools, into data sets."""

import tempfile
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from halcyon.observe.dataset import Dataset, DatasetWriter
from halcyon.observe.derive import derive
from halcyon.observe.engines import DEFAULT_MEMORY, DUCKDB, Engine, connect
from halcyon.observe.readers import WITH_LIBRARY, Format, format_of
from halcyon.observe.readers.isolation import read_isolated
from halcyon.observe.recording.folder import DATA


def data_of(path: Path) -> Path:
    """Where the data set of the trace or recorded run `path` is, or will be, unless another place is named."""
    return (
        path / DATA if path.is_dir() and format_of(path) == Format.HALCYON else Path(f"{path.absolute().name}.halcyon")
    )


def pack(
    path: Path,
    directory: Path,
    *,
    salvage: bool = False,
    threads: int | None = None,
    memory_bytes: int = DEFAULT_MEMORY,
) -> Format:
    """Writes the data set `directory` of the trace or recorded run `path`; returns which tool's it was.

    Calls come sorted by process and start, their derived columns filled. With `salvage`, of damaged traces of Halcyon
    what stands before the damage is taken, and the rest is told in `absences`. `threads`, `memory_bytes`: of the engine
    that sorts. UsageError: no trace there, or `directory` is in use. ConfigError: the trace is damaged or not
    recognized.
    """
    kind = format_of(path)
    module = f"halcyon.observe.readers.{kind}"
    with tempfile.TemporaryDirectory(prefix="halcyon-pack-") as folder:
        staged = Path(folder) / "staged"
        if kind in WITH_LIBRARY:
            read_isolated(module, path, staged)
        elif kind == Format.HALCYON:
            import_module(module).read(path, staged, salvage)
        else:
            import_module(module).read(path, staged)
        engine = connect(DUCKDB, threads=threads, memory_bytes=memory_bytes)
        try:
            _complete(Dataset.open(staged, engine, verify=False), engine, directory)
        finally:
            engine.close()
    return kind


def _complete(staged: Dataset, engine: Engine, directory: Path) -> None:
    with DatasetWriter(directory, staged.info) as writer:
        counts: dict[int, int] = {}
        for batch in engine.stream(derive(staged.calls)):
            writer.write("calls", batch)
            for entry in pc.value_counts(batch["process"]).to_pylist():
                counts[entry["values"]] = counts.get(entry["values"], 0) + entry["counts"]
        for name in ("files", "counters", "activity", "facts", "absences"):
            for batch in staged.batches(name):
                writer.write(name, batch)
        for batch in staged.batches("processes"):
            own = pa.array([counts.get(process, 0) for process in batch["process"].to_pylist()], pa.int64())
            at = batch.schema.get_field_index("calls")
            writer.write("processes", pa.Table.from_batches([batch]).set_column(at, "calls", own))
