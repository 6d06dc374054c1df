"""Change the sort key of a table. Pure.

Spec: docs/spec/operations.md#sort-orders
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.model.entries import SortField
from colonnade.manifests.model.operations import Operation, SetSortOrder
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.state.sort_order import next_order
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.table.alteration.draft import Alteration, Draft
from colonnade.tableformat.table.design.new_table import parse_sort_key


@public
@dataclass(frozen=True, slots=True)
class SetSortKey(Alteration):
    """Sort future rows by these columns, such as `day` or `amount desc`; none ends sorting.

    Existing RowSets keep their order until compaction rewrites them.
    """

    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"sort by {', '.join(self.columns) or 'nothing'}"

    def _apply(self, draft: Draft) -> None:
        draft.sort_key = parse_sort_key(draft.schema, check_names(self.columns, "The sort key"))


def around_columns(draft: Draft, altered: Sequence[Operation]) -> tuple[Operation, ...]:
    """Return the operations `altered`, which change the columns, with the new sort key of a draft.

    The new key comes last, because it may have a new column. Where a column of the former key is
    dropped, the new key comes first, or the former one ends first if the new one has a new column.
    """
    table, key = draft.table, draft.sort_key
    if key is None or key == table.sort_key:
        return tuple(altered)
    if _is_of(table.sort_key, draft.schema):
        return (*altered, _set_key(table, key))
    if _is_of(key, table.schema):
        return (_set_key(table, key), *altered)
    orders = table.sort_orders if () in table.sort_orders else (*table.sort_orders, ())
    ended = replace(table, sort_orders=orders)
    return (_set_key(table, ()), *altered, _set_key(ended, key))


def _is_of(key: Sequence[SortField], schema: TableSchema) -> bool:
    return {field.column for field in key} <= {column.id for column in schema.fields}


def _set_key(table: TableState, key: tuple[SortField, ...]) -> SetSortOrder:
    number = next_order(table.sort_orders, key)
    return SetSortOrder(table=table.id, order_id=number, fields=key)
