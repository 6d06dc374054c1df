"""A table that follows the changes of customers, which Spark calls AUTO CDC."""

from __future__ import annotations

from pyspark import pipelines as dp

dp.create_streaming_table("customers")
dp.create_auto_cdc_flow(
    target="customers",
    source="colonnade.raw.changes",
    keys=["id"],
    sequence_by="seq",
    apply_as_deletes="op = 'delete'",
    except_column_list=["op", "seq"],
)
