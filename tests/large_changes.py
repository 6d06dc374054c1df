"""What is done to a table of real size, and the rows that it must have then.

Each change rewrites RowSets in another way: what a reader meets afterwards are cuts, columns and
blocks that no plain append makes.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from colonnade.manifests.compaction.plan import GroupKind
from colonnade.manifests.model.schema import SchemaField, StructType
from colonnade.tableformat.compaction.commit import commit_job
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.table.alteration import AddColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import jobs
from tests.large_tables import TableMaker


def seeds(quick: int, long: int) -> list[Any]:
    return [
        pytest.param(seed, marks=() if seed < quick else pytest.mark.long)
        for seed in range(quick + long)
    ]


Step = Callable[[ArrowTable, pa.Table, Path], pa.Table]
"""Does something to a table that has some rows, and says which it must have then."""


def compact(kind: GroupKind) -> Step:
    def step(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
        order_by = [1, 2] if kind == "zorder" else []
        base, made = jobs(table, kind, order_by)
        for job in made:
            base, _ = commit_job(table._log, base, job, run_job(job, table._location.store))
        return rows

    return step


def repartition(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
    table.partition_by("bucket(3, id)")
    return compact("repartition")(table, rows, folder)


def delete(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
    middle = rows.num_rows // 2
    table.delete(f"id < {middle} AND id > {middle // 2}")
    ids = rows["id"]
    return rows.filter(pc.or_(pc.greater_equal(ids, middle), pc.less_equal(ids, middle // 2)))


def replace_columns(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
    """A number of every row, and nested columns that can be NULL in half of them."""
    table.update({"n": 7})
    at = rows.schema.get_field_index("n")
    rows = rows.set_column(at, rows.schema.field(at), pa.array([7] * rows.num_rows, pa.int32()))
    targets = [f.name for f in table._state.schema.fields[2:] if f.nullable]
    if not targets:
        return rows
    middle = rows.num_rows // 2
    table.update(dict.fromkeys(targets), f"id < {middle}")
    gone = pc.less(rows["id"], middle).combine_chunks()
    for name in targets:
        at = rows.schema.get_field_index(name)
        column = rows[name].combine_chunks()
        places = pa.array(range(len(column))).filter(pc.invert(gone))
        kept = pc.if_else(gone, None, pa.array(range(len(column))))
        assert len(places) + gone.true_count == len(column)
        rows = rows.set_column(at, rows.schema.field(at), column.take(kept))
    return rows


def add_wide_column(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
    """A struct of many fields, which is NULL in all earlier rows."""
    wide = StructType(
        fields=tuple(SchemaField(name=f"w{i}", type="decimal(38,0)") for i in range(70))
    )
    name = f"wide{len(table._state.schema.fields)}"
    table.alter(AddColumn(SchemaField(name=name, type=wide)))
    shown = table.scan().to_arrow().schema.field(name)
    return rows.append_column(shown, pa.nulls(rows.num_rows, shown.type))


def repair(table: ArrowTable, rows: pa.Table, folder: Path) -> pa.Table:
    damaged = table.verify(4).damaged_rowsets(table.name)
    if damaged:
        assert table.repair(damaged, rescue=folder / "lost.parquet").rows_lost == 0
    assert not table.verify(4).findings
    return rows


CHANGES: dict[str, Step] = {
    "delete": delete,
    "replace columns": replace_columns,
    "add a wide column": add_wide_column,
    "repartition": repartition,
}
STEPS: dict[bool, dict[str, Step]] = {
    True: {**CHANGES, "merge": compact("merge")},
    False: {
        "copy": compact("copy"),
        **CHANGES,
        "rewrite": compact("rewrite"),
        "z-order": compact("zorder"),
    },
}
"""What may be done to a table, by whether it is sorted."""


def chosen_steps(seed: int, *, sort_key: bool) -> list[tuple[str, Step]]:
    """Three changes, one after the other; every one of them comes first for some seed."""
    steps = [*STEPS[sort_key].items()]
    return [steps[(seed + turn * (1 + seed // 8)) % len(steps)] for turn in range(3)]


def append(table: ArrowTable, rows: pa.Table, maker: TableMaker, parts: int) -> None:
    """In several appends, each in a form of its own."""
    for at in range(parts):
        first, end = rows.num_rows * at // parts, rows.num_rows * (at + 1) // parts
        table.append(maker.other_form(rows.slice(first, end - first)))


def content(table: ArrowTable) -> pa.Table:
    table.refresh()
    return table.scan().to_arrow()
