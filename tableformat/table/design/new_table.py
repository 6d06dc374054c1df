"""Design a table: check its name, columns, sort key and partitions before it exists.

Spec: docs/spec/operations.md
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import Unpack

from colonnade.manifests.clock import now_ms
from colonnade.manifests.commit.statics import check_uses
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import new_table_id
from colonnade.manifests.model.columns.bloom import check_bloom_columns
from colonnade.manifests.model.columns.check import check_schema
from colonnade.manifests.model.columns.identity import identity_columns, problem_of
from colonnade.manifests.model.columns.properties import by_id
from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.model.primary_key import key_of
from colonnade.manifests.model.schema import IdentityColumn, TableSchema, assign_ids
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.manifests.state.sort_order import check_sort_key
from colonnade.tableformat.keys.static_parts import check_policies
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.table.design.constraints import make_constraints, named_conditions
from colonnade.tableformat.table.design.generated import named_expressions, with_generated
from colonnade.tableformat.table.design.lifetimes import (
    check_lifetimes,
    divided,
    edited,
    lifetimes_of,
)
from colonnade.tableformat.table.design.partition_key import (
    parse_partition_key,
    with_static_columns,
)
from colonnade.tableformat.table.design.primary_key import (
    parse_primary_key,
    sorted_by,
    with_key_columns,
)
from colonnade.tableformat.table.design.properties import check_comment, checked_properties
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec, spec_of
from colonnade.tableformat.types.input.column_types import GivenSchema, as_table_schema


def new_table(
    name: str, given: TableSpec | GivenSchema, **keywords: Unpack[SpecKeywords]
) -> CreateTable:
    """Design a table: check its spec, and give ids to it and its columns.

    The columns of the spec are columns, not rows. Those with an identity or a generation keep it.

    Raises InvalidInputError that names the column or constraint at fault, and NotFoundError for an
    unknown column.
    """
    spec = spec_of(name, given, **keywords)
    schema = as_table_schema(spec.columns)
    check_schema(schema)
    schema = with_key_columns(schema, spec.primary_key)
    schema = with_static_columns(schema, spec.static, spec.partition_key)
    properties, stated = divided(checked_properties(_stated(spec.properties)))
    check_comment(spec.comment)
    numbered, next_id = assign_ids(with_identity(schema, _stated(spec.identity)), 1)
    if (problem := problem_of(numbered)) is not None:
        raise InvalidInputError(f"Table {name!r} cannot be created: {problem}.")
    numbered = with_generated(numbered, named_expressions(_stated(spec.generated)), schema)
    check_bloom_columns(properties, numbered)
    key = parse_primary_key(numbered, spec.primary_key)
    partitions = parse_partition_key(name, numbered, spec.partition_key, key)
    check_policies(properties, numbered, key, partitions)
    order = parse_sort_key(numbered, spec.sort_key) or sorted_by(key)
    layout = parse_layout(check_names(spec.partition_by, "partition_by"), numbered)
    lives = lifetimes_of(edited({}, numbered, name, stated), name, now_ms=now_ms())
    check_lifetimes(lives, name, numbered, key_of(key), order, layout)
    created = CreateTable(
        table=new_table_id(),
        name=check_table_name(name),
        table_schema=numbered,
        next_column_id=next_id,
        sort_key=order,
        properties=by_id(properties, numbered),
        comment=spec.comment,
        partition_fields=layout or None,
        constraints=make_constraints(named_conditions(_stated(spec.constraints)), numbered) or None,
        primary_key=key_of(key) or None,
        lifetimes=lives,
        partition_key=key_of(partitions) or None,
    )
    check_uses(created, name, numbered)
    return created


def _stated(rules: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return {} if rules is None else rules


def with_identity(schema: TableSchema, given: Mapping[str, IdentityColumn]) -> TableSchema:
    """Return the columns with those of `given` as identity columns, which are NOT NULL.

    Raises NotFoundError for an unknown column, and InvalidInputError for another value.
    """
    if not isinstance(given, Mapping):
        raise InvalidInputError(
            f"identity must be a dict of IdentityColumn by column, not {given!r:.100}."
        )
    named: dict[str, IdentityColumn] = {}
    for name, spec in given.items():
        if not isinstance(spec, IdentityColumn):
            raise InvalidInputError(
                f"The identity of column {name!r} must be an IdentityColumn, not {spec!r:.100}."
            )
        named[schema.field(name).name] = spec
    fields = tuple(
        each.model_copy(update={"identity": named.get(each.name, each.identity), "nullable": False})
        if each.identity is not None or each.name in named
        else each
        for each in schema.fields
    )
    return TableSchema(fields=fields) if named or identity_columns(schema) else schema


def check_table_name(name: str) -> str:
    """Return a table name, or raise InvalidInputError if no path could end with it."""
    fits = isinstance(name, str) and 1 <= len(name) <= 255 and name.isprintable()
    if not fits or is_internal(name) or name in (".", "..") or set(name) & set("/\\"):
        raise InvalidInputError(
            f"Table name {name!r} must have 1 to 255 printable characters, no slash, not be"
            " '.' or '..', and not begin with a single underscore."
        )
    return name


def is_internal(name: str) -> bool:
    """Whether a folder of this name is one of Colonnade's own, such as `_manifest`.

    Two underscores begin names of other programs, such as Spark's state of an `AUTO CDC`.
    """
    return name.startswith("_") and not name.startswith("__")


def parse_sort_key(schema: TableSchema, sort_key: Sequence[str]) -> tuple[SortField, ...]:
    """Resolve a sort key such as `["day", "amount desc"]` in a schema with ids.

    Raises NotFoundError for an unknown column, and InvalidInputError for one without an order.
    """
    fields: list[SortField] = []
    for text in check_names(sort_key, "sort_key"):
        name, _, direction = text.rstrip().rpartition(" ")
        written = direction.casefold() in ("asc", "desc") and name
        if not written or text in schema.names:
            name, direction = text, "asc"
        column = schema.named(name)
        fields.append(SortField(column=column.id, descending=direction.casefold() == "desc"))
    return check_sort_key(fields, schema)
