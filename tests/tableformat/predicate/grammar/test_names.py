"""The places at which SQL text names columns are all found, or the text has none."""

from __future__ import annotations

import pytest

from colonnade.manifests.model.columns.stated_sql import present_text
from colonnade.manifests.model.schema import ArrayType, SchemaField, StructType, TableSchema
from colonnade.tableformat.predicate.sql import references

POINT = StructType(
    fields=(SchemaField(id=11, name="x", type="int"), SchemaField(id=12, name="y z", type="int"))
)
LIST = ArrayType(element=SchemaField(id=7, name="element", type="int"))
SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="a", type="int"),
        SchemaField(id=2, name="date", type="date"),
        SchemaField(id=3, name="s", type=POINT),
        SchemaField(id=4, name="year", type="int"),
        SchemaField(id=5, name="a b", type="int"),
        SchemaField(id=6, name="xs", type=LIST),
        SchemaField(id=8, name="a.b", type="int"),
    )
)
NAMES = {1: "amount", 2: "day", 3: "t", 4: "or", 5: "c`d", 8: "q", 11: "X1", 12: "y"}


def renamed(field: SchemaField) -> SchemaField:
    inside = field.with_children(map(renamed, field.children()))
    return inside.model_copy(update={"name": NAMES.get(field.id, field.name)})


AFTER = TableSchema(fields=tuple(map(renamed, SCHEMA.fields)))


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("a > 0", {1}, "`amount` > 0"),
        ("A > 0 AND `a b`<>3", {1, 5}, "`amount` > 0 AND `c``d`<>3"),
        ("s.x < s.`y z`", {3}, "`t`.`X1` < `t`.`y`"),
        ("date < DATE '2020-01-01'", {2}, "`day` < DATE '2020-01-01'"),
        ("CAST(date AS date) > date", {2}, "CAST(`day` AS date) > `day`"),
        ("year(date) = year", {2, 4}, "year(`day`) = `or`"),
        ("extract(year from date) = 1", {2}, "extract(year from `day`) = 1"),
        ("a in (1) and 'a' <> \"a\" -- a", {1}, "`amount` in (1) and 'a' <> \"a\" -- a"),
        ("'é𝄞' = 'a' or a = 1", {1}, "'é𝄞' = 'a' or `amount` = 1"),
        ("`a.b` = 1 and a = 1", {1, 8}, "`q` = 1 and `amount` = 1"),
        ("xs[a] > 1", {1, 6}, "xs[`amount`] > 1"),
        ("named_struct('a', a).a > 1", {1}, "named_struct('a', `amount`).a > 1"),
    ],
)
def test_text_shows_the_present_names_of_its_columns_and_fields(
    text: str, columns: set[int], shown: str
) -> None:
    found = references(text, SCHEMA, columns)
    assert present_text(text, found, SCHEMA) == text
    assert present_text(text, found, AFTER) == shown


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("transform(xs, a -> a + 1)[0] > a", {1, 6}),
        ("a > 0", {1, 5}),
        ("a in (select a from t)", {1}),
        ("a >", {1}),
        ("1 = 1", {1}),
    ],
)
def test_text_that_may_mean_something_else_by_a_name_has_no_places(
    text: str, columns: set[int]
) -> None:
    assert references(text, SCHEMA, columns) == ()
