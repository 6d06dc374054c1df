"""A timestamp selects the last epoch that is not after it."""

from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

import colonnade
from colonnade import NotFoundError
from colonnade.tableformat.table.epochs.time_travel import timestamp_ms
from tests.tableformat.table.trips import ids, rows


def test_a_timestamp_finds_the_last_epoch_not_after_it(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    first = table.history()[0].timestamp
    table.append(rows(2))
    second = table.history()[0].timestamp
    assert ids(table.scan(timestamp=first)) == [1]
    assert ids(table.scan(timestamp=(second - timedelta(milliseconds=1)).isoformat())) == [1]
    assert ids(table.scan(timestamp=second)) == [1, 2]
    assert ids(table.scan(timestamp=datetime.now(timezone.utc) + timedelta(days=1))) == [1, 2]


@pytest.mark.parametrize("text", ["12:30:00.12", "12:30:00.120000001", "14:30:00.12+02:00"])
def test_a_timestamp_has_as_many_digits_as_its_printer_likes(text: str) -> None:
    expected = datetime(2026, 1, 31, 12, 30, 0, 120_000, tzinfo=timezone.utc)
    for separator in " T":
        assert timestamp_ms(f"2026-01-31{separator}{text}") == expected.timestamp() * 1000
    assert timestamp_ms("2026-01-31 12:30:00.12Z") == expected.timestamp() * 1000


def test_version_0_is_the_database_and_the_error_names_the_first_version(
    table: colonnade.ArrowTable,
) -> None:
    table.append(rows(1))
    assert [each.epoch for each in table.history()] == [2, 1]
    assert table.scan(epoch=1).to_arrow().num_rows == 0
    with pytest.raises(NotFoundError, match="not exist yet at epoch 0; .* created in epoch 1"):
        table.scan(epoch=0).to_arrow()
    with pytest.raises(NotFoundError, match="not exist yet at epoch 0; .* created in epoch 1"):
        table.restore(epoch=0)


def test_the_error_names_the_first_version_of_a_table_in_a_database(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "shop")
    database.create_table("early", rows(1).schema)
    late = database.create_table("late", rows(1).schema)
    with pytest.raises(NotFoundError, match="late did not exist yet at epoch 1; .* in epoch 2"):
        late.scan(epoch=1).to_arrow()
