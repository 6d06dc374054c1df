"""Define constraints of a table, and tell which columns they need. Pure.

Spec: docs/spec/operations.md#constraints
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.constraints import CheckConstraint, find_constraint
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.predicate import bind, parse_predicate
from colonnade.tableformat.predicate.bound import compared_columns
from colonnade.tableformat.predicate.sql import reads_whole, references
from colonnade.tableformat.predicate.values.zones import SESSION
from colonnade.tableformat.types.text_form import is_padded


@dataclass(frozen=True, slots=True)
class NewConstraint:
    """A constraint as a user states it: `CHECK (condition)`, with the condition as SQL text.

    `columns` are the columns that the condition reads, for a condition that perhaps only Spark can
    evaluate.
    """

    name: str
    condition: str
    columns: tuple[str, ...] | None = None

    def make(self, schema: TableSchema) -> CheckConstraint:
        """Resolve the columns in a schema with ids.

        Raises InvalidInputError that names the constraint, for an unknown column, and for a
        condition without `columns` that only Spark can evaluate.
        """
        check_constraint_name(self.name)
        _check_text("condition", self.condition, 65_536)
        try:
            ids = bind(parse_predicate(self.condition), schema, SESSION).column_ids
        except InvalidInputError as error:
            if self.columns is None:
                raise InvalidInputError(
                    f"Constraint {self.name!r}, CHECK ({self.condition}), cannot be added without"
                    f" Spark: {error.message}"
                ) from error
            ids = frozenset(schema.field(name).id for name in self.columns)
        return CheckConstraint(
            name=self.name,
            sql=self.condition,
            columns=tuple(sorted(ids)),
            references=references(self.condition, schema, ids),
        )


def make_constraints(
    given: Iterable[NewConstraint], schema: TableSchema
) -> tuple[CheckConstraint, ...]:
    """Resolve the constraints of a new table.

    Raises the errors of `NewConstraint.make`, and InvalidInputError for two names that differ only
    by case.
    """
    made: list[CheckConstraint] = []
    for each in given:
        constraint = each.make(schema)
        check_free(constraint.name, made)
        made.append(constraint)
    return tuple(made)


def named_conditions(given: Mapping[str, str | NewConstraint]) -> tuple[NewConstraint, ...]:
    """Return the constraints that a user describes by name: `{"positive": "price > 0"}`.

    Raises InvalidInputError for another value.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"constraints must be a dict of conditions by name, not {given!r:.100}."
        )
    return tuple(
        each if isinstance(each, NewConstraint) else NewConstraint(name, each)
        for name, each in given.items()
    )


def check_constraint_name(name: object) -> None:
    """Raise InvalidInputError unless a constraint can have this name."""
    _check_text("name", name, 255)


def _check_text(what: str, text: object, most: int) -> None:
    if not isinstance(text, str) or not 1 <= len(text) <= most:
        raise InvalidInputError(
            f"The {what} of a constraint must be text of 1 to {most} characters, not {text!r:.100}."
        )


def check_free(name: str, constraints: Iterable[CheckConstraint]) -> None:
    """Raise InvalidInputError if a constraint has this name, in any case."""
    if (other := find_constraint(constraints, name)) is not None:
        raise InvalidInputError(
            f"Constraint {other.name!r} exists already; choose another name, or drop it first."
        )


def check_needed(constraint: CheckConstraint, before: TableSchema, after: TableSchema) -> None:
    """Refuse to drop or widen a column so that a constraint would mean something else.

    A column may get another name if the constraint says where it names it.

    `before` are the columns that the constraint was stated for. Raises InvalidInputError that names
    the column and the constraint.
    """
    for old in constraint.fields(before):
        text, found = constraint.text(before), places(after.fields)
        compares = _compares_values(text, before, old)
        whole = reads_whole(text, old)
        done = change_of(old, found, keeps_meaning=compares, by_id=bool(constraint.references))
        if done is None and whole and is_reshaped(old, found, names=True):
            done = CHANGED_INSIDE
        if done is not None:
            raise InvalidInputError(
                f"Column {old.name!r} cannot be {done}: the constraint {constraint.name!r}, CHECK"
                f" ({text}), reads it; drop the constraint first."
            )


CHANGED_INSIDE = "changed inside"
"""What errors say of a column whose fields change."""

PlacedField = tuple[tuple[str, ...], SchemaField]
"""The names that lead to a field, and the field."""


def change_of(
    column: SchemaField, after: Mapping[int, PlacedField], *, keeps_meaning: bool, by_id: bool
) -> str | None:
    """Return what happens to a column or a field inside it, if SQL text could not read it.

    `after` are the later fields by `places`. `keeps_meaning` says whether the text means the same
    for a wider type, and `by_id` whether it names columns by id.
    """
    for number, (path, field) in places([column]).items():
        found = after.get(number)
        if found is None:
            return "dropped" if field is column else CHANGED_INSIDE
        if found[0] != path and not by_id:
            return "renamed"
        if isinstance(field.type, str) and found[1].type != field.type and not keeps_meaning:
            return "changed to another type"
    return None


def is_reshaped(column: SchemaField, after: Mapping[int, PlacedField], *, names: bool) -> bool:
    """Return whether a column has got, lost or moved fields inside it.

    `after` are the later fields by `places`, and have the column. `names` says whether another name
    of a field counts.
    """
    return _shape(after[column.id][1], names) != _shape(column, names)


def _shape(field: SchemaField, names: bool) -> tuple[object, ...]:
    """Return the fields inside a column in their order, each by its id, and perhaps its name."""
    return tuple(
        (each.id, each.name if names else "", _shape(each, names)) for each in field.children()
    )


def places(fields: Iterable[SchemaField], above: tuple[str, ...] = ()) -> dict[int, PlacedField]:
    """Return the fields, nested ones included, by their ids."""
    found: dict[int, PlacedField] = {}
    for field in fields:
        path = (*above, field.name)
        found |= {field.id: (path, field)} | places(field.children(), path)
    return found


def _compares_values(text: str, schema: TableSchema, column: SchemaField) -> bool:
    """Return whether a constraint only compares a column with literals.

    The result of such a comparison does not change when the column widens. A comparison of two
    columns may round their values once one of them is a double. A comparison with a char ignores
    the spaces that pad it, which count in a wider type.
    """
    if not isinstance(column.type, str) or is_padded(column.type):
        return False
    try:
        condition = bind(parse_predicate(text), schema)
    except InvalidInputError:
        return False
    return column.id not in compared_columns(condition)
