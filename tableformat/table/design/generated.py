"""Define generated columns of a table, and tell which columns they need. Pure.

Spec: docs/spec/types.md#generated-columns
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.generated import expression_of, generated_fields, sources_of
from colonnade.manifests.model.columns.void import VOID
from colonnade.manifests.model.schema import Generation, SchemaField, TableSchema
from colonnade.tableformat.predicate.sql import reads_whole, references
from colonnade.tableformat.table.design.constraints import (
    CHANGED_INSIDE,
    change_of,
    is_reshaped,
    places,
)
from colonnade.tableformat.write.generated import bind_expression

UTC = "UTC"


@dataclass(frozen=True, slots=True)
class NewGenerated:
    """A generated column as a user states it: an expression over other columns, as SQL text.

    `columns` are the columns that the expression reads, for an expression that perhaps only Spark
    can evaluate.
    """

    column: str
    sql: str
    columns: tuple[str, ...] | None = None
    time_zone: str = UTC

    def apply(self, schema: TableSchema) -> TableSchema:
        """Return the given schema, which has ids, with the column as a generated one.

        Raises InvalidInputError that names the column if it is NOT NULL, is void, has a default or
        an identity, or if it reads a generated column or itself. Raises it, too, if only Spark can
        evaluate the expression and `columns` are not given. Raises NotFoundError for an unknown
        column.
        """
        field = schema.field(self.column)
        _check_text(field, self.sql)
        if field.identity is not None:
            raise _refusal(field, "is an identity column; leave one of them out")
        if not field.nullable:
            raise _refusal(
                field, "is NOT NULL; leave that out, and add a constraint that it is not NULL"
            )
        if field.default is not None:
            raise _refusal(field, "has a default; leave one of them out")
        if field.type == VOID:
            raise _refusal(field, "is void; give it the type of its values")
        ids = self._sources(field, schema)
        made = Generation(
            sql=self.sql,
            columns=tuple(sorted(ids)),
            references=references(self.sql, schema, ids),
            time_zone=self.time_zone,
        )
        new = field.model_copy(update={"generated": made})
        return TableSchema(fields=tuple(new if f is field else f for f in schema.fields))

    def _sources(self, field: SchemaField, schema: TableSchema) -> frozenset[int]:
        if self.columns is not None:
            return frozenset(schema.field(name).id for name in self.columns)
        made = Generation(sql=self.sql, columns=(), time_zone=self.time_zone)
        try:
            return bind_expression(field, made, schema).columns
        except InvalidInputError as error:
            raise InvalidInputError(
                f"Column {field.name!r} cannot be generated as {self.sql} without Spark's CREATE"
                f" TABLE: {error.message}"
            ) from error


def with_generated(
    schema: TableSchema, given: Iterable[NewGenerated], described: TableSchema | None = None
) -> TableSchema:
    """Return the columns of a new table, which have ids, with those generated that are `given`.

    `described` is the schema that the user gave. Generated columns in it come from another table,
    and stay generated. Raises the errors of `NewGenerated.apply`.
    """
    carried = () if described is None else _carried(described)
    for each in {each.column.casefold(): each for each in (*carried, *given)}.values():
        schema = each.apply(schema)
    for field in generated_fields(schema):
        for source in sources_of(field, schema):
            if source.identity is not None:
                raise _refusal(field, f"reads the identity column {source.name!r}")
            if source.generated is not None:
                what = "itself" if source is field else f"the generated column {source.name!r}"
                raise _refusal(field, f"reads {what}; use the expression of that column instead")
    return schema


def _carried(described: TableSchema) -> tuple[NewGenerated, ...]:
    return tuple(
        NewGenerated(
            field.name,
            expression_of(field.generated, described),
            tuple(source.name for source in sources_of(field, described)),
            field.generated.time_zone,
        )
        for field in described.fields
        if field.generated is not None
    )


def named_expressions(given: Mapping[str, str | NewGenerated]) -> tuple[NewGenerated, ...]:
    """Return the generated columns that a user describes by name: `{"year": "year(ts)"}`.

    An expression without a time zone means UTC. Raises InvalidInputError for another value.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"generated must be a dict of expressions by column, not {given!r:.100}."
        )
    return tuple(
        each if isinstance(each, NewGenerated) else NewGenerated(name, each)
        for name, each in given.items()
    )


def check_sources(before: TableSchema, after: TableSchema) -> None:
    """Refuse a change of columns that a generated column reads, or that it could not follow.

    Raises InvalidInputError that names both columns.
    """
    found = places(after.fields)
    types = {field.id: field.type for field in before.fields}
    for field in generated_fields(after):
        for source in sources_of(field, before):
            assert field.generated is not None
            by_id = bool(field.generated.references)
            done = change_of(source, found, keeps_meaning=False, by_id=by_id)
            text = expression_of(field.generated, before)
            whole = bool(source.children()) and reads_whole(text, source)
            if done is None and is_reshaped(source, found, names=whole):
                done = CHANGED_INSIDE
            if done is not None:
                raise InvalidInputError(
                    f"Column {source.name!r} cannot be {done}: the generated column {field.name!r},"
                    f" {text}, reads it; drop that column first."
                )
        if field.default is not None or not field.nullable or types[field.id] != field.type:
            raise InvalidInputError(
                f"Column {field.name!r} is generated, so it can get no default, no NOT NULL and no"
                " other type; drop it and add a column, or add a constraint."
            )


def _check_text(field: SchemaField, sql: object) -> None:
    if not isinstance(sql, str) or not 1 <= len(sql) <= 65_536:
        raise InvalidInputError(
            f"The expression of column {field.name!r} must be text of 1 to 65536 characters, not"
            f" {sql!r:.100}."
        )


def _refusal(field: SchemaField, why: str) -> InvalidInputError:
    return InvalidInputError(f"Column {field.name!r} cannot be generated, because it {why}.")
