"""Changes data sets as another program would that knows how to."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from halcyon.observe import manifest


def rewrite(directory: Path, **changes: object) -> None:
    """Other values in run.json."""
    path = directory / "run.json"
    document = json.loads(path.read_bytes()) | changes
    document.pop("crc32")
    document["crc32"] = manifest._document_crc32(document)
    path.write_text(json.dumps(document))


def replace_table(directory: Path, name: str, table: pa.Table) -> None:
    path = directory / f"{name}.parquet"
    pq.write_table(table, path)
    document = json.loads((directory / "run.json").read_bytes())
    part = manifest.Part.of(path, table.num_rows)
    document["parts"][path.name] = {"rows": part.rows, "bytes": part.bytes, "crc32": part.crc32}
    rewrite(directory, parts=document["parts"])
