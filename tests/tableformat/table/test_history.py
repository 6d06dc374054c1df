"""The history names what each epoch did."""

import colonnade
from tests.tableformat.table.trips import ids, rows


def test_history_names_what_happened(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2))
    table.overwrite(rows(3))
    newest, middle, oldest = table.history()
    assert (newest.operation, newest.rows_added, newest.rowsets_dropped) == ("overwrite", 1, 1)
    assert (middle.operation, middle.rows_added, middle.base) == ("append", 2, oldest.epoch)
    assert oldest.operation == "create_table"
    assert table.history(limit=1) == [newest]


def test_history_counts_rowsets_that_an_epoch_spilled(table: colonnade.ArrowTable) -> None:
    settings = colonnade.WriteSettings(max_records=1, sync=False)
    table.append(rows(*range(1100)), settings=settings)
    newest = table.history(limit=1)[0]
    assert (newest.rowsets_added, newest.rows_added) == (1100, 1100)
    assert newest.bytes_added > 0
    table.overwrite(rows(7))
    assert table.history(limit=1)[0].rowsets_dropped == 1100
    assert ids(table.scan()) == [7]
