"""A value of every type has one exact form in the log."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.model.columns.default import decode_value, encode_value
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.types.stored_value import repeated, stored_value
from tests.default_values import TYPES, values
from tests.strategies import identical


@pytest.mark.parametrize("name", TYPES)
def test_a_value_comes_back_from_the_log_as_it_was(name: str) -> None:
    column = SchemaField(name="c", type=name)
    for _, array in values(name):
        text = encode_value(stored_value(array), name)
        again = repeated(decode_value(text, column), array.type, 3)
        assert identical(again, pa.concat_arrays([array] * 3)), text
