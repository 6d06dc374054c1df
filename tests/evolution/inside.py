"""Steps that change the fields of structs, also of structs inside lists, maps and structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from colonnade import AddColumn, DropColumn, MoveColumn, RenameColumn, SchemaField, WidenColumn
from colonnade.manifests.model.schema import ArrayType, DataType, MapType, StructType
from colonnade.tableformat.table.alteration import Alteration
from tests.evolution.before import Before
from tests.evolution.columns import WIDER
from tests.widened import model_of

WIDEST = {
    **{kind: wider[-1] for kind, wider in WIDER.items() if kind != "void"},
    **{"decimal(1,0)": "decimal(38,10)", "decimal(9,2)": "decimal(12,4)", "char(3)": "string"},
}
"""Types, and a wider type of each."""

Path = tuple[str, ...]
Fields = tuple[SchemaField, ...]
Struct = Mapping[str, Any]
Changes = Callable[[Path, Fields], list[Alteration]]
"""From a struct to its changes."""

Values = Callable[[Fields, Struct], Struct]
"""From a value of a struct before its changes to the value after them."""


def _structs(path: Path, kind: DataType) -> Iterator[tuple[Path, Fields]]:
    """Return every struct inside a type, the inner ones first."""
    match kind:
        case StructType(fields=fields):
            for field in fields:
                yield from _structs((*path, field.name), field.type)
            yield path, fields
        case ArrayType(element=element):
            yield from _structs((*path, "element"), element.type)
        case MapType(value=value):
            yield from _structs((*path, "value"), value.type)


def _changed(kind: DataType, value: Any, values: Values) -> Any:
    """Return a value of a type after every struct inside it has changed."""
    if value is None:
        return None
    match kind:
        case StructType(fields=fields):
            return values(fields, {f.name: _changed(f.type, value[f.name], values) for f in fields})
        case ArrayType(element=element):
            return [_changed(element.type, each, values) for each in value]
        case MapType(value=item):
            return [(key, _changed(item.type, each, values)) for key, each in value]
    return value


def _change(before: Before, changes: Changes, values: Values) -> None:
    found = []
    for field in before.others:
        known = before.rows[field.name]
        before.rows[field.name] = [_changed(field.type, value, values) for value in known]
        for path, fields in _structs((field.name,), field.type):
            found += changes(path, fields)
    before.alter(*found)


def add(before: Before) -> None:
    """Each struct gets a field in front, and a struct at its end."""
    front = SchemaField(name="front", type="date")
    inner = StructType(fields=(SchemaField(name="x", type="int"),))
    end = SchemaField(name="end", type=inner)
    _change(
        before,
        lambda path, _: [AddColumn(front, first=True, parent=path), AddColumn(end, parent=path)],
        lambda _, value: {"front": None, **value, "end": None},
    )


def drop(before: Before) -> None:
    """Each struct loses every second field. Some then have none."""
    _change(
        before,
        lambda path, fields: [DropColumn((*path, each.name)) for each in fields[::2]],
        lambda fields, value: {each.name: value[each.name] for each in fields[1::2]},
    )


def drop_and_add(before: Before) -> None:
    """Fields of the same names and types are NULL in rows from before."""

    def changes(path: Path, fields: Fields) -> list[Alteration]:
        new = [SchemaField(name=each.name, type=each.type) for each in fields[::2]]
        return [
            *(DropColumn((*path, each.name)) for each in new),
            *(AddColumn(each, parent=path) for each in new),
        ]

    _change(before, changes, lambda fields, value: {**value, **{f.name: None for f in fields[::2]}})


def rename(before: Before) -> None:
    """Each field gets the name of the next one."""

    def changes(path: Path, fields: Fields) -> list[Alteration]:
        names = [each.name for each in fields]
        turned = zip(names, [*names[1:], names[0]], strict=True)
        return [
            *(RenameColumn((*path, name), f"{name}!") for name in names),
            *(RenameColumn((*path, f"{old}!"), new) for old, new in turned),
        ]

    def values(fields: Fields, value: Struct) -> Struct:
        names = [each.name for each in fields]
        return dict(zip([*names[1:], names[0]], (value[name] for name in names), strict=True))

    _change(before, changes, values)


def move(before: Before) -> None:
    """The order of the fields of each struct is turned."""
    _change(
        before,
        lambda path, fields: [MoveColumn((*path, each.name), first=True) for each in fields],
        lambda _, value: value,
    )


def widen(before: Before) -> None:
    """Each field gets a wider type."""

    def values(fields: Fields, value: Struct) -> Struct:
        wider = {f.name: WIDEST[str(f.type)] for f in fields if f.type in WIDEST}
        return {
            name: model_of(each, wider[name]) if name in wider and each is not None else each
            for name, each in value.items()
        }

    _change(
        before,
        lambda path, fields: [
            WidenColumn((*path, f.name), WIDEST[str(f.type)]) for f in fields if f.type in WIDEST
        ],
        values,
    )
