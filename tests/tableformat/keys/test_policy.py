"""Properties of a keyed table become one value, or are refused by one sentence."""

from __future__ import annotations

import re

import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import (
    ArrayType,
    Generation,
    IdentityColumn,
    SchemaField,
    TableSchema,
)
from colonnade.tableformat.keys.modes import Mode
from colonnade.tableformat.keys.policy import KeyPolicy, key_policy

TEXTS = ArrayType(element=SchemaField(id=20, name="element", type="string"))
SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="id", type="long", nullable=False),
        SchemaField(id=2, name="at", type="timestamp"),
        SchemaField(id=3, name="n", type="int"),
        SchemaField(id=4, name="text", type="string"),
        SchemaField(id=5, name="ratio", type="double"),
        SchemaField(id=6, name="tags", type=TEXTS),
        SchemaField(
            id=7, name="number", type="long", nullable=False, identity=IdentityColumn(always=True)
        ),
        SchemaField(
            id=8,
            name="double",
            type="int",
            generated=Generation(sql="n * 2", columns=(3,), time_zone="UTC"),
        ),
        SchemaField(id=9, name="a.b", type="int"),
    )
)
KEY = SCHEMA.fields[:1]


def test_a_table_without_properties_refuses_duplicates_and_replaces_values() -> None:
    policy = key_policy({"other": "text"}, SCHEMA, KEY)
    assert policy == KeyPolicy("error", {}, {})
    assert policy.replaces(SCHEMA.fields[:6])


def test_properties_name_columns_in_any_case_and_with_dots() -> None:
    policy = key_policy(
        {"merge.N": "add", "merge.TEXT": "concat:, ", "merge.a.b": "min"},
        SCHEMA,
        KEY,
    )
    assert policy.modes == {3: Mode("add"), 4: Mode("concat", ", "), 9: Mode("min")}
    assert not policy.replaces(SCHEMA.fields)


def test_the_sequence_of_rows_is_that_of_every_column_without_its_own() -> None:
    policy = key_policy({"sequence": "at", "sequence.text": "n"}, SCHEMA, KEY)
    assert policy.sequences == {4: 3, 5: 2, 6: 2, 7: 2, 9: 2}
    assert policy.mode(SCHEMA.fields[1]) == policy.mode(SCHEMA.fields[2]) == Mode("max")
    assert policy.mode(SCHEMA.fields[6]) == Mode("coalesce")


@pytest.mark.parametrize(
    ("properties", "sentence"),
    [
        ({"onDuplicate": "Merge"}, "must be error, ignore or merge, not 'Merge'"),
        ({"merge.nope": "add"}, "'merge.nope' names a column that is not there"),
        ({"merge.n": "sum"}, "must be one of replace, coalesce, .* not 'sum'"),
        ({"merge.n": "add:3"}, "not 'add:3'"),
        ({"merge.text": "add"}, "the merge mode add to a column of type string"),
        ({"merge.tags": "map"}, "the merge mode map to a column of type array"),
        ({"merge.id": "max"}, "is part of the primary key"),
        ({"merge.number": "max"}, "gets its values from the table"),
        ({"merge.double": "max"}, "gets its values from the table"),
        ({"sequence": "ratio"}, "type double, which cannot be a sequence"),
        ({"sequence": "tags"}, "type array, which cannot be a sequence"),
        ({"sequence": "id"}, "is part of the primary key"),
        ({"sequence.n": "text", "sequence.text": "n"}, "which is a sequence itself"),
        ({"sequence.n": "n"}, "which is a sequence itself"),
        ({"sequence": "at", "sequence.at": "n"}, "which is a sequence itself"),
        ({"sequence.at": "n", "sequence": "at"}, "which is a sequence itself"),
        ({"sequence": "at", "merge.at": "max"}, "always keeps its newest value"),
        ({"sequence.n": "nope"}, "'sequence.n' names a column that is not there"),
    ],
)
def test_a_property_that_cannot_be_followed_is_refused_by_name(
    properties: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InvalidInputError, match=sentence) as refused:
        key_policy(properties, SCHEMA, KEY)
    assert re.search("|".join(map(re.escape, properties)), refused.value.message)
