"""A merge refuses a RowSet that is not in the order of the sort key."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.tableformat.compaction.run import run_job
from tests.compaction_tables import add, jobs, live, new

pytestmark = pytest.mark.usefixtures("small_blocks")


def test_a_rowset_that_is_not_in_order_is_refused_rather_than_mixed_up() -> None:
    table = new(TableSchema(fields=(SchemaField(name="id", type="long"),)), ["id"])
    add(table, pa.record_batch({"id": [1, 2, 3, 4, 5, 6, 7, 8]}), 4)
    add(table, pa.record_batch({"id": [3, 9, 2, 11, 12]}), 4)
    _, [job] = jobs(table, "merge")
    with pytest.raises(CorruptionError, match=f"{live(table)[1].entry.object} is not in the order"):
        run_job(job, table._location.store)
