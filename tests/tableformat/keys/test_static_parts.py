"""Properties say how static values merge, and how the own columns of a table do."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.keys.static_parts import statics_table, stored_table
from colonnade.tableformat.table.alteration.whole_table import AlterProperties
from colonnade.tableformat.table.table import ArrowTable

SCHEMA = pa.schema(
    [
        ("device", pa.string()),
        ("at", pa.int64()),
        ("sum", pa.int64()),
        ("seen", pa.int64()),
        ("note", pa.string()),
        ("noted", pa.int64()),
    ]
)
PROPERTIES = {
    "onDuplicate": "merge",
    "merge.sum": "add",
    "merge.seen": "max",
    "sequence.note": "noted",
}


def create(path: Path, **properties: str) -> ArrowTable:
    return colonnade.create(
        path,
        SCHEMA,
        primary_key=["device", "at"],
        static=["seen", "note", "noted"],
        properties={**PROPERTIES, **properties},
    )


def test_static_columns_merge_by_their_modes_and_sequences(tmp_path: Path) -> None:
    table = create(tmp_path / "t")
    for seen, note, noted in [(5, "late", 9), (3, "early", 2), (7, None, None)]:
        row = {"device": "a", "at": 1, "sum": 10, "seen": seen, "note": note, "noted": noted}
        table.append(pa.Table.from_pylist([row], SCHEMA))
    shown = {"device": "a", "at": 1, "sum": 30, "seen": 7, "note": "late", "noted": 9}
    assert table.scan().to_arrow().to_pylist() == [shown]


def test_each_part_has_the_properties_that_name_its_columns(tmp_path: Path) -> None:
    state = create(tmp_path / "t")._state
    assert stored_table(state).properties == {"onDuplicate": "merge", "merge.sum": "add"}
    assert stored_table(state).schema.names == ("device", "at", "sum")
    assert statics_table(state, sets=True).properties == {}
    merging = {"merge.seen": "max", "merge.note": "coalesce", "sequence.note": "noted"}
    assert statics_table(state, sets=False).properties == merging


def test_a_table_without_static_columns_is_its_own_part(tmp_path: Path) -> None:
    state = colonnade.create(tmp_path / "t", SCHEMA)._state
    assert stored_table(state) is state


@pytest.mark.parametrize("properties", [{"sequence.note": "at"}, {"sequence.sum": "noted"}])
def test_a_sequence_is_static_exactly_if_its_column_is(
    tmp_path: Path, properties: dict[str, str]
) -> None:
    with pytest.raises(InvalidInputError, match="static sequence|not static"):
        create(tmp_path / "new", **properties)
    table = create(tmp_path / "t")
    with pytest.raises(InvalidInputError, match="static sequence|not static"):
        table.alter(AlterProperties(properties))
