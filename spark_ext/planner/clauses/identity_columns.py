"""Identity columns in requests: what they state, and the tables whose columns Spark cannot fill.

Spec: docs/spec/types.md#identity-columns
"""

from __future__ import annotations

from collections.abc import Mapping

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.identity import identity_columns, spec_of
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.spark_ext.planner.messages.clauses import Identity
from colonnade.tableformat.write.job import WriteTarget


def described_identities(schema: TableSchema) -> dict[str, Identity]:
    """Return what each identity column states, by column."""
    return {
        each.name: Identity(
            start=str(spec_of(each).start),
            step=str(spec_of(each).step),
            always=spec_of(each).always,
        )
        for each in identity_columns(schema)
    }


def stated_identities(given: Mapping[str, Identity]) -> dict[str, IdentityColumn]:
    """Return the identity columns that a statement declares."""
    return {
        name: IdentityColumn(start=int(spec.start), step=int(spec.step), always=spec.always)
        for name, spec in given.items()
    }


def require_fillable(target: WriteTarget) -> None:
    """Refuse a table that Spark sorts by values which only its tasks will know.

    Raises InvalidInputError that names the column.
    """
    columns = {each.id: each for each in identity_columns(target.table_schema)}
    keys = [key for key in target.sort_key if key.column in columns]
    for key in keys:
        column = columns[key.column]
        if len(keys) > 1 or key.descending != (spec_of(column).step < 0):
            raise InvalidInputError(
                f"Spark cannot write table {target.name!r}, because it is sorted by its identity"
                f" column {column.name!r} against the order of its values; write it with"
                " colonnade.open."
            )
