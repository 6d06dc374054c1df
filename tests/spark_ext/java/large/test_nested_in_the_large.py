"""Fields in arrays and maps change between appends of both writers, at real size.

Both readers then have the same rows, before and after a compaction by each side.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import colonnade
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    MoveColumn,
    RenameColumn,
    WidenColumn,
)
from tests.spark_ext.java.spark_shell import SparkShell

ROWS = 14_000
"""The rows of each append; there are five."""

TABLE = "colonnade.deep.t"
CREATE = (
    "id BIGINT, l ARRAY<STRUCT<a: INT, b: STRING, t: STRUCT<z: FLOAT>>>,"
    " m MAP<INT, STRUCT<v: SMALLINT, w: STRING>>"
)
L, M = "l.element", "m.value"


def new(name: str, kind: str) -> SchemaField:
    return SchemaField(name=name, type=kind)


CHANGES: tuple[tuple[Alteration, ...], ...] = (
    (),
    (WidenColumn(f"{L}.a", "long"), AddColumn(new("c", "int"), parent=L, first=True)),
    (RenameColumn(f"{L}.b", "label"), DropColumn(f"{M}.w")),
    (
        WidenColumn(f"{M}.v", "double"),
        AddColumn(new("w", "string"), parent=M),
        AddColumn(new("o", "int"), parent=f"{L}.t"),
    ),
    (
        MoveColumn(f"{L}.t", first=True),
        DropColumn(f"{L}.t.z"),
        WidenColumn(f"{L}.c", "decimal(12,1)"),
    ),
)
"""What changes before each append."""


def element(i: int, stage: int) -> dict[str, Any]:
    """An element that is written after the changes of a stage."""
    a = i if stage == 0 else i + 2**40
    found: dict[str, Any] = {"a": a, "b" if stage < 2 else "label": f"text {i % 997}"}
    found["t"] = {"z": i % 1000 / 4} if stage < 4 else {}
    if stage >= 1:
        found["c"] = i % 7
    if stage >= 3:
        found["t"]["o"] = i % 11
    return found


def value(i: int, stage: int) -> dict[str, Any]:
    found: dict[str, Any] = {"v": i % 30_000 if stage < 3 else i + 0.5}
    if stage != 2:
        found["w"] = f"w{i % 13}"
    return found


def row(i: int, stage: int, shown: bool = False) -> dict[str, Any]:
    """A row of a stage: what is written, or what is `shown` after all stages."""
    elements = [element(i + n, stage) for n in range(i % 4)]
    values = [(i % 5, value(i, stage)), (5, None)] if i % 3 else []
    if shown:
        elements = [
            {
                "t": {"o": each["t"].get("o")},
                "c": each.get("c"),
                "a": each["a"],
                "label": each.get("label", each.get("b")),
            }
            for each in elements
        ]
        # The first `w` was dropped, and its values with it.
        values = [
            (k, v and {"v": float(v["v"]), "w": v["w"] if stage >= 3 else None}) for k, v in values
        ]
    whole: list[Any] = [*elements, None] if i % 6 == 0 else elements
    return {"id": i, "l": None if i % 10 == 9 else whole, "m": None if i % 8 == 7 else values}


def rows(stage: int, shown: bool = False) -> list[dict[str, Any]]:
    return [row(i, stage, shown) for i in range(stage * ROWS, (stage + 1) * ROWS)]


def normal(found: pa.Table) -> list[dict[str, Any]]:
    """Rows in the order of ids. A decimal is compared as a number."""
    listed: list[dict[str, Any]] = found.to_pylist()
    for each in listed:
        for part in each["l"] or ():
            if part is not None and part["c"] is not None:
                part["c"] = int(part["c"])
    return sorted(listed, key=lambda each: int(each["id"]))


@pytest.mark.long
def test_both_readers_show_the_rows_of_both_writers_in_fields_that_have_changed(
    spark_shell: SparkShell, tmp_path: Path
) -> None:
    spark = spark_shell
    spark.sql("CREATE DATABASE colonnade.deep")
    spark.sql(f"CREATE TABLE {TABLE} ({CREATE})")
    path = f"{spark.folder}/warehouse/deep/t"
    table = colonnade.open(path)
    for stage, changes in enumerate(CHANGES):
        if changes:
            table.alter(*changes)
        table = colonnade.open(path)
        bare = pa.schema([field.remove_metadata() for field in table.schema])
        given = pa.Table.from_pylist(rows(stage), bare)
        if stage % 2:
            table.append(given)
        else:
            pq.write_table(given, tmp_path / f"{stage}.parquet")
            source = f'spark.read.parquet("{tmp_path}/{stage}.parquet")'
            spark.run(f'{source}.writeTo("{TABLE}").append()')
    wanted = [each for stage in range(len(CHANGES)) for each in rows(stage, shown=True)]
    steps: dict[str, Callable[[], object]] = {
        "appends": lambda: None,
        "a delete and an update": lambda: (
            spark.sql(f"DELETE FROM {TABLE} WHERE id % 1000 = 1"),
            spark.sql(f"UPDATE {TABLE} SET l = NULL WHERE id % 1000 = 2"),
        ),
        "compaction by Spark": lambda: spark.sql(
            "CALL colonnade.system.compact('deep.t', options => 'min-rowsets=2')"
        ),
        "z-order by Python": lambda: (
            colonnade.open(path).delete("id = 3"),
            colonnade.open(path).optimize().executeZOrderBy("id"),
        ),
    }
    for name, step in steps.items():
        step()
        if name == "a delete and an update":
            wanted = [each for each in wanted if each["id"] % 1000 != 1]
            wanted = [{**each, "l": None} if each["id"] % 1000 == 2 else each for each in wanted]
        if name == "z-order by Python":
            wanted = [each for each in wanted if each["id"] != 3]
        spark.run(f'spark.table("{TABLE}").write.parquet("{tmp_path}/{name}")')
        assert normal(pq.read_table(tmp_path / name)) == wanted, name
        assert normal(colonnade.open(path).scan().to_arrow()) == wanted, name
    assert colonnade.open(path).verify(4).is_sound
    spark.sql("DROP DATABASE colonnade.deep CASCADE")
