"""A block may lack fields of its column, and have others, and nothing else may differ."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
)
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset.nested_forms import is_form, places_in
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from tests.nested_changes import CHANGES, ROWS, changed
from tests.tableformat.rowset.written import read, write


@pytest.mark.parametrize("name", CHANGES)
def test_a_block_of_every_earlier_form_is_read_as_the_table_has_it_now(name: str) -> None:
    case, store = changed(name), MemoryStore()
    entries = write(store, case.before, case.stored, block_rows=ROWS)
    found = read(store, case.after, entries).combine_chunks()
    found.validate(full=True)
    assert found.equals(pa.Table.from_batches([case.wanted]))


X = SchemaField(id=2, name="x", type="int")
Y = SchemaField(id=3, name="y", type="string")
WIDE = SchemaField(id=2, name="x", type="long")


def of(data_type: DataType) -> SchemaField:
    return SchemaField(id=1, name="c", type=data_type)


def structs(*fields: SchemaField) -> SchemaField:
    return of(StructType(fields=fields))


def lists(element: SchemaField) -> SchemaField:
    return of(ArrayType(element=element))


DATE = X.model_copy(update={"type": "date"})
MONTHS = X.model_copy(update={"type": "interval day"})
PAIR = MapType(key=X.model_copy(update={"nullable": False}), value=Y)
WRONG: dict[str, tuple[pa.DataType, SchemaField]] = {
    "another type": (storage_type(structs(DATE)), structs(X, Y)),
    "a wider type": (pa.struct([("2", pa.int64())]), structs(X)),
    "a type that does not widen": (pa.struct([("2", pa.float32())]), structs(WIDE)),
    "an interval of months": (pa.struct([("2", pa.int32())]), structs(MONTHS)),
    "one id twice": (pa.struct([("2", pa.int32()), ("2", pa.int32())]), structs(X)),
    "a name that is no id": (pa.struct([("x", pa.int32())]), structs(X)),
    "a list for a struct": (pa.list_(pa.int32()), structs(X)),
    "a list of others": (pa.list_(pa.string()), lists(WIDE)),
    "a list for a map": (pa.list_(pa.int32()), of(PAIR)),
    "a map of other values": (pa.map_(pa.int32(), pa.int32()), of(PAIR)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_block_of_any_other_form_is_damaged(name: str) -> None:
    found, wanted = WRONG[name]
    assert is_form(storage_type(wanted), wanted)
    assert not is_form(found, wanted)


def test_a_column_of_another_type_under_the_same_id_is_reported_as_damage() -> None:
    store, before = MemoryStore(), TableSchema(fields=(structs(DATE, Y),))
    rows = pa.record_batch([pa.array([{"x": None, "y": "a"}], arrow_schema(before)[0].type)], ["c"])
    entries = write(store, before, rows)
    with pytest.raises(CorruptionError, match="Column 'c' .* its stream holds"):
        read(store, TableSchema(fields=(structs(X, Y),)), entries)


def test_fields_are_found_by_the_newest_id_that_a_struct_has() -> None:
    stored = pa.struct([("7", pa.int32()), ("2", pa.int32())])
    assert places_in(stored, (Y, WIDE, X)) == [None, 1, 1]


@pytest.mark.slow
def test_a_struct_of_many_fields_is_adapted_in_one_pass() -> None:
    """With a search for each field, these fields would take minutes."""
    fields = [SchemaField(id=n, name=f"f{n}", type="int") for n in range(2, 4002)]
    before = TableSchema(fields=(structs(*fields[:3900]),))
    value = {each.name: each.id for each in fields[:3900]}
    store, column = MemoryStore(), pa.array([value], arrow_schema(before)[0].type)
    entries = write(store, before, pa.record_batch([column], ["c"]))
    after = TableSchema(fields=(structs(*fields[:99:-1]),))
    [row] = read(store, after, entries).to_pylist()
    assert row["c"] == {each.name: value.get(each.name) for each in fields[100:]}
