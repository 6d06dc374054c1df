"""Internal columns have ids that no column of a table has."""

from __future__ import annotations

from colonnade.manifests.model.columns.internal import WRITTEN, written_at


def test_the_id_of_a_hidden_column_is_reserved() -> None:
    assert 2_147_483_000 < WRITTEN.id < 2**31


def test_rows_of_one_time_have_it_in_the_column_that_is_not_stored() -> None:
    one = written_at(1_700_000_000_123)
    assert (one.id, one.type) == (WRITTEN.id, "timestamp")
    assert one.initial == "i:1700000000123000"
