"""Hidden columns are in the statistics of RowSets, under ids that no column of a table has."""

from __future__ import annotations

from colonnade.manifests.model.entries import ColumnStatistics
from colonnade.manifests.model.hidden_columns import (
    CLEANED,
    HIDDEN_COLUMNS,
    WRITTEN,
    least_value,
    with_hidden,
    with_value,
)
from colonnade.manifests.model.schema import EarlierColumn, SchemaField
from tests.log_samples import entry


def test_the_ids_of_hidden_columns_are_reserved() -> None:
    assert all(2_147_483_000 < each.id < 2**31 for each in HIDDEN_COLUMNS)
    assert len({each.id for each in HIDDEN_COLUMNS}) == len(HIDDEN_COLUMNS)


def test_a_rowset_states_the_value_of_all_its_rows() -> None:
    plain = entry()
    assert least_value(plain, CLEANED) is None
    stated = with_value(with_value(plain, CLEANED, 7), WRITTEN, -5)
    assert (least_value(stated, CLEANED), least_value(stated, WRITTEN)) == (7, -5)
    assert with_value(stated, CLEANED, 8).statistics[CLEANED.id].max == "i:8"
    rest = {key: each for key, each in stated.statistics.items() if key < 2_147_483_000}
    assert rest == plain.statistics


def test_statistics_without_bounds_state_no_value() -> None:
    nothing = {WRITTEN.id: ColumnStatistics(nulls=10)}
    assert least_value(entry().model_copy(update={"statistics": nothing}), WRITTEN) is None


def test_statistics_are_read_of_hidden_columns_and_of_each_form_that_a_column_had() -> None:
    wide = SchemaField(id=4, name="w", type="long", earlier=(EarlierColumn(id=3, type="int"),))
    found = [(each.id, each.type) for each in with_hidden([wide])]
    assert found == [(4, "long"), (3, "int"), (WRITTEN.id, "timestamp"), (CLEANED.id, "long")]
