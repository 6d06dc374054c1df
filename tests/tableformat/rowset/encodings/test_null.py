"""A block of NULLs takes no bytes."""

from __future__ import annotations

import pyarrow as pa

from tests.tableformat.rowset.encoded import column, round_trip


def test_all_null_takes_no_bytes_in_any_type() -> None:
    for text in ("long", "string", "double", "decimal(38,0)", "variant"):
        entry = round_trip(pa.nulls(99, column(text).type), column(text))
        assert (entry.encoding, entry.length, entry.statistics.nulls) == ("null", 0, 99)
