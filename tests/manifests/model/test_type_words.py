"""Types are read as people write them in SQL, and every text that messages show is read back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from colonnade.manifests.model.schema import (
    ArrayType,
    MapType,
    SchemaField,
    StructType,
    type_text,
)
from colonnade.manifests.model.type_words import OTHER_NAMES, stated_type

PRIMITIVE = st.sampled_from(
    [
        *("boolean", "byte", "long", "string", "date", "timestamp_ntz", "variant", "time(3)"),
        *("decimal(12,2)", "varchar(9)", "string collate UNICODE_CI", "interval day to second"),
    ]
)


def field(name: str, data_type: object) -> SchemaField:
    return SchemaField(name=name, type=data_type, nullable=name != "key")  # type: ignore[arg-type]


TYPES = st.recursive(
    PRIMITIVE,
    lambda inner: st.one_of(
        inner.map(lambda t: ArrayType(element=field("element", t))),
        st.tuples(PRIMITIVE, inner).map(
            lambda t: MapType(key=field("key", t[0]), value=field("value", t[1]))
        ),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda ts: StructType(fields=tuple(field(f"f{i}", t) for i, t in enumerate(ts)))
        ),
    ),
    max_leaves=6,
)


@given(TYPES, st.booleans())
def test_the_text_of_every_type_is_read_as_that_type(data_type: object, loud: bool) -> None:
    text = type_text(data_type)  # type: ignore[arg-type]
    if loud and "collate" not in text:
        names = text.upper().replace(",", " ,\t").replace("<", "  < ")
        assert type_text(field("x", names).type).casefold() == text
    else:
        assert field("x", text).type == data_type


@pytest.mark.parametrize(("other", "name"), OTHER_NAMES.items())
def test_other_names_of_sql_mean_a_type_that_the_log_has(other: str, name: str) -> None:
    digits = {"decimal": "(9,2)", "varchar": "(9)"}.get(name, "")
    assert stated_type(other.upper() + digits) == name + digits
    assert field("x", other + digits).type == name + digits


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("decimal", "decimal(10,0)"),
        ("numeric(7)", "decimal(7,0)"),
        ("Time", "time(6)"),
        ("Interval  Day To Second", "interval day to second"),
    ],
)
def test_digits_that_are_left_out_are_those_of_sql(text: str, name: str) -> None:
    assert field("x", text).type == name


@pytest.mark.parametrize(
    "text",
    [
        *("array<int", "array<int>>", "map<int>", "struct<>", "struct<a>", "list<int>", "", "<"),
        *("a;b", "array<" * 200 + "int" + ">" * 200),
    ],
)
def test_a_text_whose_parts_cannot_be_told_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a type"):
        stated_type(text)
