"""The design of a table in the words of its users, such as they give to create one. Pure."""

from __future__ import annotations

from colonnade.manifests.model.columns.generated import expression_of
from colonnade.manifests.model.columns.identity import identity_columns, next_value
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.state.partition_layout import field_text
from colonnade.manifests.state.snapshot import TableState


def primary_key_of(table: TableState) -> tuple[str, ...]:
    """Return the names of the columns of the primary key, in its order; empty without one."""
    return tuple(field.name for field in key_fields(table.primary_key, table.schema))


def sort_key_of(table: TableState) -> list[str]:
    """Return the sort key: `["day", "amount desc"]`."""
    return [
        table.schema.by_id(field.column).name + (" desc" if field.descending else "")
        for field in table.sort_key
    ]


def partitioning_of(table: TableState) -> tuple[str, ...]:
    """Return the partition fields of new rows."""
    return tuple(field_text(field, table.schema) for field in table.partition_fields)


def constraints_of(table: TableState) -> dict[str, str]:
    """Return the conditions that every row meets, as SQL text by name."""
    return {each.name: each.text(table.schema) for each in table.constraints}


def generated_of(table: TableState) -> dict[str, str]:
    """Return the expressions of generated columns, as SQL text by column."""
    return {
        each.name: expression_of(each.generated, table.schema)
        for each in table.schema.fields
        if each.generated is not None
    }


def next_identities_of(table: TableState) -> dict[str, int | None]:
    """Return the next value of each identity column, by name; None after its last one."""
    columns = identity_columns(table.schema)
    return {each.name: next_value(table.identities, each) for each in columns}
