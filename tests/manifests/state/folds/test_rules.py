"""After every epoch, the properties of a table name columns that it has."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import AlterSchema, SetProperties
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.folds.rules import check_properties
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, epoch_after, make_log, with_orders

NEW = SchemaField(id=9, name="new", type="long")
TABLE = TableId(ORDERS)


def created() -> Snapshot:
    """A database with the table `orders`."""
    store = MemoryStore()
    return with_orders(store, make_log(store))


@pytest.mark.parametrize("stated", [{"merge.9": "add"}, {"sequence": "9"}, {"sequence": "id"}])
def test_a_property_of_a_column_that_is_not_there_is_refused(stated: dict[str, str]) -> None:
    state = created()
    operation = SetProperties(table=ORDERS, set=stated)
    with pytest.raises(CorruptionError, match="names a column .* which the table does not have"):
        apply_epoch(state, epoch_after(state, change(operation)))


def test_the_order_of_operations_in_an_epoch_does_not_matter() -> None:
    state = created()
    before = state.tables[TABLE].schema
    added = AlterSchema(
        table=ORDERS,
        table_schema=TableSchema(fields=(*before.fields, NEW)),
        schema_id=1,
        next_column_id=10,
    )
    stated = SetProperties(table=ORDERS, set={"merge.9": "add"})
    for operations in ((added, stated), (stated, added)):
        after = apply_epoch(state, epoch_after(state, change(*operations)))
        assert after.tables[TABLE].properties == {"merge.new": "add"}
        check_properties(after.epoch, after.tables[TABLE])
