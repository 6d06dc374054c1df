"""Tables in memory with a primary key, and keys that such tables can have."""

from __future__ import annotations

from collections.abc import Sequence

from colonnade.manifests.commit.change import Change
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.model.operations import SetPrimaryKey
from colonnade.tableformat.table.table import ArrowTable


def set_key(table: ArrowTable, columns: Sequence[str]) -> ArrowTable:
    """Give a table a primary key, without a look at its rows."""
    state = table._state
    ids = tuple(state.schema.field(name).id for name in columns)
    op = SetPrimaryKey(table=state.id, columns=ids)
    table._log.commit(Change(new_transaction_id(), "alter_table", (op,)), table._snapshot)
    table.refresh()
    return table
