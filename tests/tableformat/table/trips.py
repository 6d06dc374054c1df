"""A table of trips with known rows."""

import pyarrow as pa

import colonnade

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("amount", pa.float64()),
    ]
)


def rows(*ids: int) -> pa.Table:
    return pa.table(
        {"id": ids, "name": [f"n{i}" for i in ids], "amount": [i / 2 for i in ids]}, SCHEMA
    )


def ids(scan: colonnade.Scan) -> list[int]:
    return scan.to_arrow()["id"].to_pylist()
