"""Values are computed for live rows alone, and written for every row that is stored."""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from colonnade import WriteSettings
from tests.tableformat.statements.tables import filled, made, rows


def doubled(batch: pa.RecordBatch) -> pa.Array:
    return pc.multiply(batch["id"], 2)


def test_a_function_never_sees_a_deleted_row() -> None:
    table = made()
    table.append(rows(*range(40)), settings=WriteSettings(max_records=10))
    table.delete("id < 9 OR id = 15 OR id > 35 OR id BETWEEN 20 AND 29")
    seen: list[int] = []

    def function(batch: pa.RecordBatch) -> pa.Array:
        seen.extend(batch["id"].to_pylist())
        return doubled(batch)

    table.add_column("twice", pa.int64(), function, columns=["ID"], nullable=False)
    live = [9, *range(10, 15), *range(16, 20), *range(30, 36)]
    assert sorted(seen) == live
    assert sorted(table.scan(["twice"]).to_arrow()["twice"].to_pylist()) == [2 * i for i in live]
    assert table.verify().is_sound


def test_stretches_without_live_rows_have_values_too() -> None:
    schema = pa.schema([pa.field("id", pa.int64(), nullable=False)])
    table = made(schema=schema)
    table.append(pa.table({"id": pa.array(range(300_000), pa.int64())}, schema=schema))
    table.delete("id < 70000 OR id BETWEEN 131072 AND 196607 OR id = 200000 OR id > 250000")
    live = table.scan().to_arrow()["id"].to_pylist()
    table.add_column("twice", pa.int64(), doubled, columns=["id"], nullable=False)
    table.backfill("twice", lambda batch: pc.negate(batch["twice"]), "id > 240000")
    found = table.scan().to_arrow().to_pydict()
    assert found["id"] == live
    assert found["twice"] == [-2 * i if i > 240_000 else 2 * i for i in live]
    assert table.verify().is_sound


def test_a_function_without_columns_learns_the_number_of_rows() -> None:
    table = filled()
    table.delete("id IN (0, 3)")
    table.add_column("n", pa.int64(), lambda b: pa.array(range(b.num_rows)), columns=[])
    table.backfill("text", lambda b: pa.array(["x"] * b.num_rows), "id < 5", columns=[])
    assert table.scan(["n"], "id < 10").to_arrow()["n"].to_pylist() == list(range(8))
    assert table.scan(where="text = 'x'").to_arrow().num_rows == 3


def test_a_value_is_also_a_column_a_literal_or_a_condition() -> None:
    table = filled()
    table.add_column("copy", "decimal(9,2)", "price")
    table.add_column("one", "byte", 1, nullable=False)
    table.add_column("late", pa.bool_(), "day >= DATE '2020-01-06'")
    found = table.scan(["copy", "one", "late"], "id = 5").to_arrow().to_pylist()
    assert found == [{"copy": Decimal(5), "one": 1, "late": True}]
