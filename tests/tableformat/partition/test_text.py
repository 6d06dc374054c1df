"""Partitions as people read them."""

from dataclasses import replace

from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.partition_layout import parse_layout
from colonnade.tableformat.partition.text import partition_text
from tests.log_samples import entry, table_state

SCHEMA = TableSchema(
    fields=(
        SchemaField(id=1, name="ts", type="timestamp"),
        SchemaField(id=2, name="price", type="decimal(9,2)"),
        SchemaField(id=3, name="raw", type="binary"),
        SchemaField(id=4, name="wide", type="decimal(38,10)"),
    )
)


def test_values_are_shown_as_what_they_stand_for() -> None:
    shown: dict[str, dict[str | None, str]] = {
        "years(ts)": {"i:-1": "1969", "i:56": "2026"},
        "months(ts)": {"i:-1": "1969-12", "i:670": "2025-11"},
        "days(ts)": {"i:-1": "1969-12-31", "i:20413": "2025-11-21", "i:99999999": "99999999"},
        "hours(ts)": {"i:-1": "1969-12-31 23", "i:24": "1970-01-02 00", None: "null"},
        "bucket(9, ts)": {"i:3": "3"},
        "price": {"i2:-150": "-1.50"},
        "wide": {
            "i10:5": "0.0000000005",
            f"i10:{10**37 + 1}": "1000000000000000000000000000.0000000001",
        },
        "truncate(2, raw)": {"b:AP8=": "00ff"},
    }
    for text, values in shown.items():
        state = replace(table_state(SCHEMA), partition_layouts=(parse_layout([text], SCHEMA),))
        for value, wanted in values.items():
            rowset = entry().model_copy(update={"partition_layout_id": 1, "partition": (value,)})
            assert partition_text(state, rowset) == f"{text}={wanted}"
            gone = replace(state, schema=TableSchema(fields=()))
            assert "#" in str(partition_text(gone, rowset))
    assert partition_text(table_state(SCHEMA), entry()) is None
