"""The history names what each epoch did."""

import pytest

import colonnade
from colonnade.manifests.engine import Author, working_for
from tests.tableformat.table.trips import ids, rows


def test_history_names_what_happened(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2))
    table.overwrite(rows(3))
    newest, middle, oldest = table.history()
    assert (newest.operation, newest.rows_added, newest.rowsets_dropped) == ("overwrite", 1, 1)
    assert (middle.operation, middle.rows_added, middle.base) == ("append", 2, oldest.epoch)
    assert oldest.operation == "create_table"
    assert table.history(limit=1) == [newest]


@pytest.mark.slow
def test_history_counts_rowsets_that_an_epoch_spilled(table: colonnade.ArrowTable) -> None:
    settings = colonnade.WriteSettings(max_records=1, sync=False)
    table.append(rows(*range(1100)), settings=settings)
    newest = table.history(limit=1)[0]
    assert (newest.rowsets_added, newest.rows_added) == (1100, 1100)
    assert newest.bytes_added > 0
    table.overwrite(rows(7))
    assert table.history(limit=1)[0].rowsets_dropped == 1100
    assert ids(table.scan()) == [7]


def test_history_tells_appends_that_have_read_nothing(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2))
    table.append(rows(3), commit=colonnade.CommitSettings(batch=("app", 1)))
    table.delete("id = 1")
    table.upsert(rows(9), on="id")
    told = {entry.epoch: entry.is_blind_append for entry in reversed(table.history())}
    assert list(told.values()) == [False, True, True, False, False]


def test_history_has_the_isolation_level_of_each_time(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    table.alter(colonnade.AlterProperties({"isolation": "serializable"}))
    table.append(rows(2))
    table.alter(colonnade.AlterProperties(remove=("isolation",)))
    levels = [entry.isolation for entry in reversed(table.history())]
    assert levels == ["snapshot", "snapshot", "serializable", "serializable", "snapshot"]


@pytest.mark.slow
def test_history_shows_what_an_update_sets_and_never_a_text_without_end(
    table: colonnade.ArrowTable,
) -> None:
    table.append(rows(1, 2))
    table.update({"name": "'é'", "id": 3}, "id = 2")
    assert table.history(1)[0].parameters == {"where": "id = 2", "set": "name = 'é', id = 3"}
    long = " OR ".join(f"id = {number}" for number in range(1000))
    table.delete(long)
    [text] = table.history(1)[0].parameters.values()
    assert (len(text), text[:-1], text[-1]) == (2000, long[:1999], "…")
    note = "n" * 5000
    table.append(rows(4), commit=colonnade.CommitSettings(metadata=note))
    assert table.history(1)[0].parameters == {"userMetadata": note}


def test_history_names_the_user_if_the_program_has_said_it(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    with working_for(Author("ada" * 100)):
        table.append(rows(2))
    newest, before = table.history(2)
    assert (newest.user, before.user) == (("ada" * 100)[:255], None)
