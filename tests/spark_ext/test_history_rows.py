"""The history in the words of Delta Lake: operations, parameters and metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import AlterProperties, ArrowTable, col
from colonnade.spark_ext.history_rows import HISTORY_SCHEMA, history_row

NAMES = [
    *("version", "timestamp", "userId", "userName", "operation", "operationParameters", "job"),
    *("notebook", "clusterId", "readVersion", "isolationLevel", "isBlindAppend"),
    *("operationMetrics", "userMetadata", "engineInfo"),
]


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": [str(each) for each in ids]})


@pytest.fixture
def table(tmp_path: Path) -> ArrowTable:
    return colonnade.create(tmp_path / "t", rows(*range(10)))


def newest(table: ArrowTable) -> dict[str, Any]:
    return dict(zip(NAMES, history_row(table.history(1)[0]), strict=True))


def test_the_columns_are_those_of_delta_lake_in_its_order() -> None:
    places = [HISTORY_SCHEMA.index(f"{name} ") for name in NAMES]
    assert places == sorted(places)


def test_a_table_that_is_created_with_rows_is_a_blind_append(table: ArrowTable) -> None:
    row = newest(table)
    assert (row["operation"], row["isBlindAppend"]) == ("CREATE TABLE AS SELECT", True)
    assert {name: row["operationMetrics"][name] for name in ("numFiles", "numOutputRows")} == {
        "numFiles": "1",
        "numOutputRows": "10",
    }


def test_each_operation_has_the_names_that_it_has_in_delta(table: ArrowTable) -> None:
    def check(operation: str, parameters: dict[str, str], **metrics: int) -> None:
        row = newest(table)
        assert row["operation"] == operation
        for name, text in parameters.items():
            assert row["operationParameters"][name] == text
        for name, count in metrics.items():
            assert row["operationMetrics"][name] == str(count), name
        assert row["isolationLevel"] == "SnapshotIsolation"
        assert row["readVersion"] == row["version"] - 1
        assert row["engineInfo"] == "colonnade-python"
        unknown = ("userId", "userName", "job", "notebook", "clusterId", "userMetadata")
        assert {row[name] for name in unknown} == {None}

    first = table.epoch
    table.append(rows(10, 11))
    check("WRITE", {"mode": "Append"}, numFiles=1, numOutputRows=2)
    table.delete(col("id") > 10)
    check("DELETE", {"predicate": "id > 10"}, numDeletedRows=1, numAddedFiles=0, numRemovedFiles=0)
    table.update({"v": "'x'"}, "id < 2")
    check("UPDATE", {"predicate": "id < 2"}, numUpdatedRows=2, numAddedFiles=1)
    table.upsert(rows(9, 20), on="id")
    check("MERGE", {}, numTargetRowsUpdated=1, numTargetRowsInserted=1, numTargetFilesAdded=1)
    table.optimize("id >= 0").option("min-rowsets", 2).executeCompaction()
    check("OPTIMIZE", {"predicate": "id >= 0"}, numAddedFiles=1, numRemovedFiles=4)
    assert int(newest(table)["operationMetrics"]["numRemovedBytes"]) > 0
    table.overwrite(rows(1))
    check("WRITE", {"mode": "Overwrite"}, numFiles=1, numRemovedFiles=1, numOutputRows=1)
    table.restore(first)
    check("RESTORE", {"version": str(first)}, numRestoredFiles=1, numRemovedFiles=1)
    table.alter(AlterProperties({"team": "a"}))
    check("ALTER TABLE", {})
    assert newest(table)["operationMetrics"] == {}
    done = table.vacuum(0, force=True)
    check("VACUUM END", {}, numDeletedFiles=len(done.files), numDeletedBytes=done.bytes_removed)
    blind = [entry.epoch for entry in table.history() if entry.is_blind_append]
    assert blind == []
