"""Calls with the columns that Halcyon derives from others."""

from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from halcyon.observe.derive import derive
from halcyon.observe.engines import Engine
from halcyon.observe.schema import CALLS

Row = dict[str, Any]
_names = count()


def derived(engine: Engine, folder: Path, rows: list[Row]) -> list[Row]:
    path = folder / f"{next(_names)}.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema=CALLS), path)
    pieces = engine.stream(derive(engine.read([path], "calls")))
    return [row for piece in pieces for row in piece.to_pylist()]
