"""Data goes to the storage form and back without a copy, and only between equal layouts."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.types.arrow_types import arrow_schema, storage_type
from colonnade.tableformat.types.storage_form import from_storage, relabel, to_storage
from tests.strategies import batches, identical, schemas


@given(st.data())
def test_data_survives_the_way_through_storage_without_a_copy(data: st.DataObject) -> None:
    schema = data.draw(schemas())
    batch = data.draw(batches(schema))
    arrays = to_storage(batch, schema)
    assert [array.type for array in arrays] == [storage_type(field) for field in schema.fields]
    back = from_storage(arrays, schema)
    assert back.schema.equals(arrow_schema(schema), check_metadata=True)
    assert identical(back, batch)
    addresses = [
        [[buffer and buffer.address for buffer in array.buffers()] for array in columns]
        for columns in (batch.columns, arrays, back.columns)
    ]
    assert addresses[0] == addresses[1] == addresses[2]


def test_an_array_of_another_layout_is_never_relabelled() -> None:
    with pytest.raises(TypeError, match="cannot be read as"):
        relabel(pa.array([[1]]), pa.list_(pa.string()))
    schema = TableSchema(fields=(SchemaField(id=1, name="a", type="string"),))
    with pytest.raises(CorruptionError, match=r"'a' \(id 1\) is stored as int64"):
        from_storage([pa.array([1])], schema)
