"""A path names a column, or a field inside one, as names or as one text."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.model.schema import (
    ArrayType,
    DataType,
    MapType,
    SchemaField,
    StructType,
    TableSchema,
    assign_ids,
    walk,
)
from colonnade.tableformat.table.alteration.paths import (
    find,
    is_inside_key,
    names_of,
    with_field,
    with_fields,
)


def struct(**types: DataType) -> StructType:
    return StructType(fields=tuple(SchemaField(name=n, type=t) for n, t in types.items()))


def array(of: DataType) -> ArrayType:
    return ArrayType(element=SchemaField(name="element", type=of))


KEYS = SchemaField(name="key", type=struct(key="int"), nullable=False)
SCHEMA, _ = assign_ids(
    TableSchema(
        fields=(
            SchemaField(name="k", type="long"),
            SchemaField(name="s", type=struct(x="int", t=struct(y="int"))),
            SchemaField(name="l", type=array(array(struct(x="int")))),
            SchemaField(
                name="m",
                type=MapType(key=KEYS, value=SchemaField(name="value", type=struct(x="int"))),
            ),
        )
    ),
    1,
)
PATHS = ("k", "s.x", "s.t", "s.t.y", "l.element.element.x", "m.key.key", "m.value", "m.value.x")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("`a.b`.c", ("a.b", "c")),
        ("a.`b``c`", ("a", "b`c")),
        ("ü. ", ("ü", " ")),
    ],
)
def test_a_text_is_names_with_dots_between_them(text: str, names: tuple[str, ...]) -> None:
    assert names_of(text) == names_of(names) == names


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "``", "`a`b"])
def test_any_other_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not the path of a column; write names"):
        names_of(text)


@pytest.mark.parametrize("path", PATHS)
def test_a_change_of_a_field_changes_nothing_else(path: str) -> None:
    names = names_of(path)
    found = find(SCHEMA, names)
    assert found is find(SCHEMA, tuple(name.upper() for name in names))
    after = with_field(SCHEMA, names, lambda old: old.model_copy(update={"comment": "new"}))
    changed = [
        new.id
        for old, new in zip(walk(SCHEMA.fields), walk(after.fields), strict=True)
        if old.comment != new.comment
    ]
    assert changed == [found.id]
    assert [each.id for each in walk(after.fields)] == [each.id for each in walk(SCHEMA.fields)]


def test_fields_are_replaced_in_structs_alone() -> None:
    for parent in ((), ("s",), ("s", "t"), ("l", "element", "element"), ("m", "key")):
        after = with_fields(SCHEMA, parent, lambda fields: fields[:-1])
        lost = find(SCHEMA, parent).children()[-1] if parent else SCHEMA.fields[-1]
        left = {each.id for each in walk(after.fields)}
        assert {each.id for each in walk(SCHEMA.fields)} - left == {e.id for e in walk([lost])}
    with pytest.raises(InvalidInputError, match=r"'m' is of type map<.*below m\.value\.$"):
        with_fields(SCHEMA, ("m",), lambda fields: fields)
    with pytest.raises(InvalidInputError, match=r"'k' is of type long, and only .* or moved\.$"):
        with_fields(SCHEMA, ("k",), lambda fields: fields)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("x", "Column 'x' does not exist; the columns are k, s, l, m."),
        ("s.z", "Field 's.z' does not exist; the fields of 's' are x, t."),
        ("k.x", "Field 'k.x' does not exist: 'k' of type long has no fields."),
        ("l.x", "Field 'l.x' does not exist; the fields of 'l' are element."),
    ],
)
def test_a_path_that_leads_nowhere_is_refused_by_its_name(path: str, said: str) -> None:
    with pytest.raises(NotFoundError) as caught:
        find(SCHEMA, names_of(path))
    assert caught.value.message == said


def test_a_field_inside_the_key_of_a_map_is_known() -> None:
    inside = [path for path in PATHS if is_inside_key(SCHEMA, names_of(path))]
    assert inside == ["m.key.key"]
