"""An initial value or a default is stored exactly, and only where the column can have it."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.columns.default import (
    decode_value,
    encode_value,
    problem_of,
    widened_values,
)
from colonnade.manifests.model.schema import (
    ColumnDefault,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("boolean", "i:1"),
        ("byte", "i:-128"),
        ("date", "d:-2147483648"),
        ("long", "i:9223372036854775807"),
        ("decimal(38,0)", f"i:{10**38 - 1}"),
        ("interval month", "i:-2147483648"),
        ("time(9)", "i:86399999999999"),
        ("double", "f:-0.0"),
        ("float", "f:nan"),
        ("double", "f:-inf"),
        ("string collate UNICODE_CI", "s:Ä"),
        ("string", "s:"),
        ("binary", "b:AP8="),
    ],
)
def test_a_value_is_read_as_it_was_written(name: str, text: str) -> None:
    assert encode_value(decode_value(text, SchemaField(name="c", type=name)), name) == text


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("boolean", "i:2"),
        ("byte", "i:128"),
        ("int", "f:1.0"),
        ("int", "f:nan"),
        ("int", "5"),
        ("date", "d:2147483648"),
        ("date", "i:1"),
        ("timestamp", "i:9223372036854775808"),
        ("decimal(3,1)", "i1:1000"),
        ("decimal(3,1)", "i:100"),
        ("decimal(3,1)", "i2:1"),
        ("interval year", "i:2147483648"),
        ("interval second", "i:9223372036854775808"),
        ("time(0)", "i:86400000000000"),
        ("string", "b:AAE="),
        ("variant", "s:{}"),
    ],
)
def test_a_value_of_another_type_is_refused_and_named(name: str, text: str) -> None:
    column = SchemaField(id=1, name="c", type=name, initial=text)
    with pytest.raises(CorruptionError):
        decode_value(text, column)
    assert "gives column 'c' a wrong value" in str(problem_of(TableSchema(fields=(column,))))


def test_only_whole_columns_have_values() -> None:
    inner = SchemaField(id=2, name="x", type="int", initial="i:1")
    outer = SchemaField(id=1, name="s", type=StructType(fields=(inner,)))
    assert "field 'x', which is not a whole column" in str(problem_of(TableSchema(fields=(outer,))))


@pytest.mark.parametrize(
    ("old", "new", "text", "wider"),
    [
        ("byte", "long", "i:5", "i:5"),
        ("int", "double", "i:5", "f:5.0"),
        ("int", "decimal(12,2)", "i:-5", "i2:-500"),
        ("decimal(5,2)", "decimal(38,10)", "i2:150", "i10:15000000000"),
        ("float", "double", "f:nan", "f:nan"),
        ("varchar(3)", "string", "s:abc", "s:abc"),
    ],
)
def test_values_stay_the_same_in_a_wider_type(old: str, new: str, text: str, wider: str) -> None:
    default = ColumnDefault(sql="any", value=text)
    column = SchemaField(id=1, name="c", type=old, initial=text, default=default)
    assert widened_values(column, new) == {
        "initial": wider,
        "default": ColumnDefault(sql="any", value=wider),
    }


def test_a_default_without_a_value_stays_without_one_in_a_wider_type() -> None:
    default = ColumnDefault(sql="length(current_user())")
    column = SchemaField(id=1, name="c", type="int", default=default)
    assert widened_values(column, "long") == {"initial": None, "default": default}


def test_a_new_table_has_no_initial_values() -> None:
    default = ColumnDefault(sql="1", value="i:1")
    column = SchemaField(name="c", type="int", initial="i:1", default=default)
    [numbered] = assign_ids(TableSchema(fields=(column,)), 1)[0].fields
    assert (numbered.initial, numbered.default) == (None, default)


def test_a_column_that_is_not_null_may_be_absent_or_left_out_only_with_a_value() -> None:
    column = SchemaField(name="c", type="int", nullable=False)
    assert not column.may_be_absent
    assert not column.may_be_left_out
    assert column.model_copy(update={"initial": "i:1"}).may_be_absent
    default = ColumnDefault(sql="1", value="i:1")
    assert column.model_copy(update={"default": default}).may_be_left_out
