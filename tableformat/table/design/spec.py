"""What a new table is, as one value, whichever road creates it.

Spec: docs/spec/operations.md#operations
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict

from typing_extensions import Unpack

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import IdentityColumn
from colonnade.manifests.public import public
from colonnade.tableformat.types.input.column_types import GivenSchema


@public
@dataclass(frozen=True, slots=True)
class TableSpec:
    """Columns, keys, layout, rules and properties of a new table: all but its place and its rows.

    Nothing is checked before a table is created from it. One value can create any number of tables.
    It copies the lists and dicts that it is made of, so a change of them later does not change it.

    `columns` states the columns (docs/python.md#columns-of-a-new-table), or has rows that tell
    them. A stream of rows can be read only once, so it creates one table.

    No two rows share a `primary_key`, whose columns become NOT NULL; the property `onDuplicate`
    says what a plain write does with a key that is there. A `static` column has one value for all
    rows of a `partition_key`, by default the first column of the primary key.

    `sort_key` names columns, each perhaps followed by `desc`; it is the primary key if none is
    given. `partition_by` has columns or transforms, such as `days(ts)`, `bucket(16, id)`,
    `truncate(4, name)`: a RowSet has rows with one value of each.

    The table gives the values of `identity` columns: `{"id": colonnade.IdentityColumn()}`.
    `generated` columns follow from others: `{"day": "CAST(ts AS DATE)"}`; rows leave them out, or
    have the same value. Every row meets the `constraints`: `{"paid": "price > 0"}`.
    """

    columns: GivenSchema | Any
    primary_key: Sequence[str] = ()
    static: Sequence[str] = ()
    partition_key: Sequence[str] = ()
    sort_key: Sequence[str] = ()
    partition_by: Sequence[str] = ()
    identity: Mapping[str, IdentityColumn] | None = None
    generated: Mapping[str, Any] | None = None
    constraints: Mapping[str, Any] | None = None
    properties: Mapping[str, str] | None = None
    comment: str | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            stated = getattr(self, each.name)
            if isinstance(stated, list | dict):
                object.__setattr__(self, each.name, stated.copy())


class SpecKeywords(TypedDict, total=False):
    """The fields of a `TableSpec` beside its columns, as keywords of the methods that create."""

    primary_key: Sequence[str]
    static: Sequence[str]
    partition_key: Sequence[str]
    sort_key: Sequence[str]
    partition_by: Sequence[str]
    identity: Mapping[str, IdentityColumn] | None
    generated: Mapping[str, Any] | None
    constraints: Mapping[str, Any] | None
    properties: Mapping[str, str] | None
    comment: str | None


def spec_of(
    name: str, given: TableSpec | GivenSchema | Any, **keywords: Unpack[SpecKeywords]
) -> TableSpec:
    """Return the spec that a user gives as a value, or as columns beside keywords.

    Raises InvalidInputError for keywords beside a spec, and TypeError for an unknown keyword.
    """
    if not isinstance(given, TableSpec):
        return TableSpec(given, **keywords)
    if keywords:
        raise InvalidInputError(
            f"Table {name!r} is created from a TableSpec, and with {next(iter(keywords))} beside"
            " it; put that into the spec."
        )
    return given
