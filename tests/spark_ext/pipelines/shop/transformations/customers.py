"""Two tables of the changes of customers, by AUTO CDC: the newest names, and all of them."""

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

dp.create_streaming_table("names")
dp.create_auto_cdc_flow(
    target="names",
    source="colonnade.raw.changes",
    keys=["id"],
    sequence_by="seq",
    apply_as_deletes="op = 'delete'",
    except_column_list=["op", "seq"],
    stored_as_scd_type=2,
)
