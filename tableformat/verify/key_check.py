"""Check that no two live rows of a table share its primary key."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from colonnade.manifests.arrays.hidden_rows import view_of
from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.keys.key_parts import repeated_keys
from colonnade.tableformat.verify.findings import Finding, kind_of

_MOST = 10
"""The most keys that are reported of a table."""


def check_keys(
    store: ObjectStore, table: TableState, rowsets: Sequence[LiveRowSet]
) -> list[Finding]:
    """Return a finding for each key that several rows of sound RowSets share, at most ten.

    Reads the key columns. Returns nothing for a table without a primary key. Raises a StoreError
    that may pass.
    """
    if not table.primary_key:
        return []
    key = TableSchema(fields=key_fields(table.primary_key, table.schema))
    try:
        # The rows of range tombstones are deleted, and those that have expired are not.
        view = view_of(table, rowsets, None)
        found = list(islice(repeated_keys(store, view, key), _MOST))
    except InvalidInputError as error:
        return [Finding("damage", f"Table {table.name!r}: {error.message}", table=table.name)]
    except ColonnadeError as error:
        return [Finding(kind_of(error), error.message, table=table.name)]
    return [
        Finding(
            "damage",
            f"{each.rows} rows of table {table.name!r} share the primary key {each.text}, in"
            f" RowSets {', '.join(str(rowset.id) for rowset in each.rowsets)}.",
            table=table.name,
        )
        for each in found
    ]
