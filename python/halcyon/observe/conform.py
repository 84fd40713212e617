"""Brings a piece of a table to its schema: order of columns, types, what must not be null."""

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from halcyon.errors import UsageError
from halcyon.observe.schema import TABLES

if TYPE_CHECKING:
    import ibis


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type without dictionary encoding, which is a matter of storage."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def conform(name: str, data: pa.Table | pa.RecordBatch) -> pa.Table:
    """`data` with exactly the columns of table `name`; nullable ones that it lacks become null.

    UsageError: an unknown table or column, a value that does not fit its column's type, a null where none may be.
    """
    if name not in TABLES:
        raise UsageError(f"{name}: no such table; known tables: {', '.join(TABLES)}")
    schema = TABLES[name]
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    for column in data.column_names:
        if column not in schema.names:
            raise UsageError(f"{name}.{column}: no such column; known columns: {', '.join(schema.names)}")
    return pa.table([_column(name, data, field) for field in schema], schema=schema)


def _column(name: str, data: pa.Table, field: pa.Field) -> pa.ChunkedArray:
    if field.name not in data.column_names:
        if not field.nullable and data.num_rows:
            raise UsageError(f"{name}.{field.name}: missing; every row needs a value")
        return pa.chunked_array([pa.nulls(data.num_rows, field.type)])
    column = data.column(field.name)
    if column.null_count and not field.nullable:
        row = pc.index(pc.is_null(column), True).as_py()
        raise UsageError(f"{name}.{field.name}: null in row {row}; every row needs a value")
    if column.type == field.type:
        return column
    try:
        if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
            column = column.cast(plain_type(field.type)).dictionary_encode()
        return column.cast(field.type)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as why:
        raise UsageError(f"{name}.{field.name}: {column.type}; expected {field.type}: {why}") from why


def whole_batch(name: str, batch: pa.RecordBatch, wanted: list[str] | None) -> pa.RecordBatch:
    """The columns of table `name`, or the `wanted` ones of them; those that `batch` lacks are null."""
    fields = [field for field in TABLES[name] if wanted is None or field.name in wanted]
    if all(field.name in batch.schema.names for field in fields):
        return batch
    columns = [
        batch.column(field.name) if field.name in batch.schema.names else pa.nulls(batch.num_rows, field.type)
        for field in fields
    ]
    return pa.RecordBatch.from_arrays(columns, names=[field.name for field in fields])


def all_columns(name: str, table: "ibis.Table") -> "ibis.Table":
    """Exactly the columns of table `name`, in their order; those that `table` lacks are null."""
    if list(table.columns) == TABLES[name].names:
        return table
    import ibis  # which readers that run in processes of their own do without

    present = set(table.columns)
    return table.select(
        [
            table[field.name]
            if field.name in present
            else ibis.null(ibis.dtype(plain_type(field.type))).name(field.name)
            for field in TABLES[name]
        ]
    )
