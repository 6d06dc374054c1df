"""Which columns rows were given values in, where rows meet those of a table by their keys. Pure.

Spec: docs/spec/keys.md#merging
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.generated import sources_of
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.write.constraints import can_evaluate
from colonnade.tableformat.write.job import WriteJob

Given = frozenset[int]
"""The ids of the columns that rows were given values in."""


def given_columns(table: TableState, names: Iterable[str]) -> Given:
    """Return the columns of these names, in any case. Other names have no effect.

    Raises InvalidInputError that names a column of the primary key or a sequence that is missing,
    or a generated column without the columns that it is computed from.
    """
    found = {name.casefold() for name in names}
    given = frozenset(each.id for each in table.schema.fields if each.name.casefold() in found)
    _check(table, given)
    return given


def all_columns(table: TableState) -> Given:
    """Return the columns that a row needs for being whole: all that the table does not compute."""
    key = key_fields(table.primary_key, table.schema)
    plain = (f for f in table.schema.fields if f.generated is None and f.identity is None)
    return frozenset(each.id for each in (*plain, *key))


def open_columns(schema: TableSchema, given: Collection[int]) -> TableSchema:
    """Return columns as rows may have them before they meet: nullable, unless they were given."""
    return TableSchema(
        fields=tuple(
            each
            if each.id in given and each.identity is None
            else each.model_copy(update={"nullable": True})
            for each in schema.fields
        )
    )


def checks_merged_rows(table: TableState, given: Given) -> bool:
    """Return whether the constraints of a table are checked on merged rows alone.

    Where a new row replaces a whole row, the row itself is checked. Constraints that only Spark
    evaluates are checked on the rows that are given.
    """
    schema = table.schema
    if not table.constraints or not can_evaluate(table.constraints, schema):
        return False
    return not (all_columns(table) <= given and policy_of(table).replaces(schema.fields))


def merging_job(job: WriteJob, table: TableState, given: Given) -> WriteJob:
    """Return a job of added rows as one whose rows merge with those of the table by their keys.

    Its tasks may write rows that have values in the `given` columns alone.
    """
    constraints = () if checks_merged_rows(table, given) else job.target.constraints
    target = job.target.model_copy(
        update={"table_schema": open_columns(table.schema, given), "constraints": constraints}
    )
    settings = job.settings.model_copy(update={"on_duplicate": "merge"})
    changed = {"target": target, "settings": settings, "given": tuple(sorted(given))}
    return job.model_copy(update=changed)


def left_out_columns(table: TableState, given: Given) -> tuple[SchemaField, ...]:
    """Return the columns that new rows get a default in, or NULL."""
    fields = table.schema.fields
    return tuple(each for each in fields if each.id not in given and each.generated is None)


def require_values(table: TableState, given: Given, key: str) -> None:
    """Refuse rows with new keys that lack a value. `key` names one of the keys.

    Raises InvalidInputError that names a column that is NOT NULL and has no default.
    """
    for column in left_out_columns(table, given):
        if not column.may_be_left_out:
            raise InvalidInputError(
                f"Column {column.name!r} of table {table.name!r} is NOT NULL and has no default,"
                f" but the rows leave it out, and the key {key} is new; give the column values."
            )


def _check(table: TableState, given: Given) -> None:
    by_id = {each.id: each for each in table.schema.fields}
    for column in key_fields(table.primary_key, table.schema):
        if column.id not in given:
            raise InvalidInputError(
                f"The rows lack column {column.name!r} of the primary key of table"
                f" {table.name!r}; give every row a key."
            )
    sequences = policy_of(table).sequences
    for number in sorted(given):
        sequence = sequences.get(number)
        if sequence is not None and sequence not in given:
            raise InvalidInputError(
                f"The rows have column {by_id[number].name!r} of table {table.name!r} without its"
                f" sequence {by_id[sequence].name!r}, so nothing says how new they are; give both"
                " columns."
            )
        missing = [s for s in sources_of(by_id[number], table.schema) if s.id not in given]
        if missing:
            raise InvalidInputError(
                f"The rows have the generated column {by_id[number].name!r} of table"
                f" {table.name!r} without column {missing[0].name!r}, which it is computed from;"
                " leave the generated column out."
            )
