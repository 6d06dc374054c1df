"""Rows that are added to a table and overwritten in it, each time in one epoch."""

from pathlib import Path

import polars
import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.log.log import Log
from tests.tableformat.table.trips import SCHEMA, ids, rows


def test_appended_rows_come_back_in_order(table: colonnade.ArrowTable) -> None:
    table.append(rows(1, 2))
    table.append(rows(3))
    assert ids(table.scan()) == [1, 2, 3]
    assert colonnade.open(table.path).scan().to_arrow() == pa.concat_tables([rows(1, 2), rows(3)])


def test_a_statement_that_meets_no_conflict_never_pauses(table: colonnade.ArrowTable) -> None:
    """Even a pause of no time gives up the processor."""
    pauses: list[float] = []
    log = Log(table._location.store, pause=pauses.append)
    alone = colonnade.ArrowTable(table._location, log, table._snapshot)
    alone.append(rows(1, 2))
    alone.update({"amount": 1.0}, "id = 1")
    alone.delete("id = 2")
    alone.optimize()
    assert pauses == []


def test_an_overwrite_replaces_every_row_and_the_epoch_before_stays(
    table: colonnade.ArrowTable,
) -> None:
    before = table.append(rows(1, 2))
    table.overwrite(rows(7))
    assert ids(table.scan()) == [7]
    assert ids(table.scan(epoch=before)) == [1, 2]


def test_an_overwrite_with_no_rows_empties_the_table(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    table.overwrite(rows())
    assert ids(table.scan()) == []


def test_any_object_that_speaks_arrow_can_be_appended(table: colonnade.ArrowTable) -> None:
    table.append(rows(1).to_batches()[0])
    table.append(rows(2).to_reader())
    table.append(rows(3).to_pandas())
    table.append(polars.DataFrame(rows(4)))
    assert ids(table.scan()) == [1, 2, 3, 4]
    with pytest.raises(colonnade.InvalidInputError, match="list of int"):
        table.append([1, 2])


def test_a_reader_without_rows_may_have_any_form(tmp_path: Path) -> None:
    runs = pa.list_(pa.run_end_encoded(pa.int32(), pa.string()))
    names = pa.dictionary(pa.int8(), pa.list_(pa.string_view()))
    table = colonnade.create(tmp_path / "forms", pa.schema([("runs", runs), ("names", names)]))
    schema = pa.schema([("names", names), ("runs", runs)])
    table.overwrite(pa.RecordBatchReader.from_batches(schema, []))
    assert table.scan().to_arrow().num_rows == 0
    table.append(pa.RecordBatchReader.from_batches(pa.schema([("runs", runs)]), []))
    with pytest.raises(colonnade.InvalidInputError, match="lacks 'runs'"):
        table.append(pa.RecordBatchReader.from_batches(pa.schema([("x", runs)]), []))


def test_a_bad_column_changes_nothing(table: colonnade.ArrowTable) -> None:
    table.append(rows(1))
    epoch = table.epoch
    with pytest.raises(colonnade.InvalidInputError, match="amount"):
        table.append(rows(2).rename_columns(["id", "name", "amuont"]))
    with pytest.raises(colonnade.InvalidInputError, match="extra"):
        table.append(rows(2).append_column("extra", pa.array([1])))
    with pytest.raises(colonnade.InvalidInputError, match="id"):
        table.append(pa.table({"id": [None], "name": ["a"], "amount": [1.0]}))
    assert (table.refresh().epoch, ids(table.scan())) == (epoch, [1])


def test_an_overwrite_loses_against_a_change_since_it_looked(tmp_path: Path) -> None:
    ours = colonnade.create(tmp_path / "t", SCHEMA)
    theirs = colonnade.open(tmp_path / "t")
    theirs.append(rows(1))
    with pytest.raises(colonnade.ConflictError, match="'t'"):
        ours.overwrite(rows(2))
    assert ours.append(rows(3)) == 3
    assert ids(theirs.scan()) == [1, 3]


def test_an_overwrite_of_an_empty_table_is_still_an_overwrite(tmp_path: Path) -> None:
    ours = colonnade.create(tmp_path / "t", SCHEMA)
    colonnade.open(tmp_path / "t").append(rows(1))
    with pytest.raises(colonnade.ConflictError):
        ours.overwrite(rows(2))
