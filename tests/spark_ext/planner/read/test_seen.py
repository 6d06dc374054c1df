"""Requests of one query see a table at one time, and answers from the log know what has expired."""

from __future__ import annotations

import json
import time
from datetime import datetime, timedelta, timezone
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade import AlterProperties
from colonnade.manifests.clock import now_ms
from colonnade.manifests.ids import new_transaction_id
from colonnade.manifests.store import StoreAddress
from colonnade.spark_ext.planner.read import reads
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.read.metadata import TABLES
from colonnade.spark_ext.planner.state.transactions import TRANSACTIONS
from colonnade.spark_ext.planner.write import deletes
from colonnade.spark_ext.planner.write.expiry import expiring_rows
from colonnade.spark_ext.planner.write.writes import plan_write
from colonnade.tableformat.location import locate
from colonnade.tableformat.write.settings import CommitSettings
from tests.spark_ext.planner.read.test_reads import keys, load_table, scan

NOON = datetime(2024, 5, 1, 12, tzinfo=timezone.utc)
HOUR = timedelta(hours=1)


def rows(first: int, count: int, hours: float) -> pa.Table:
    """Rows whose times begin some hours after noon, and end before the next hour."""
    times = [NOON + HOUR * (hours + each / count) for each in range(count)]
    ids = list(range(first, first + count))
    notes = [None if each % 5 == 4 else f"n{each:04}" for each in ids]
    return pa.table({"k": ids, "ts": pa.array(times, pa.timestamp("us", "UTC")), "note": notes})


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Four RowSets of 100 rows, an hour each; rows live 10 hours and their notes 5."""
    table = colonnade.create(
        tmp_path / "t",
        rows(0, 1, 0).schema,
        properties={"ttl": "10 hours", "ttl.column": "ts", "ttl.note": "5 hours"},
    )
    for number in range(4):
        table.append(rows(100 * number, 100, number))
    return str(tmp_path / "t")


MOMENTS = [NOON + HOUR * hours for hours in (0, 5.5, 7.25, 9, 10, 10.3, 11, 12.99, 13, 90)]


@pytest.mark.parametrize("moment", MOMENTS, ids=[str(each - NOON) for each in MOMENTS])
def test_answers_from_the_log_are_those_of_the_rows_at_every_time(
    path: str, moment: datetime
) -> None:
    loaded = load_table(path, seenAt=moment.isoformat())
    shown = colonnade.open(path).scan(seen_at=moment).to_arrow()
    for name, column in product(("count", "min", "max"), ("k", "ts", "note", None)):
        if column is None and name != "count":
            continue
        asked = {"function": name, "column": column}
        values = reads.aggregate({"view": loaded["view"], "functions": [asked]})["values"]
        if values is None:
            continue
        if name == "count":
            true = len(shown) if column is None else len(shown) - shown[column].null_count
        else:
            true = getattr(pc, name)(shown[column]).as_py()
            if column == "ts" and true is not None:
                true = round(true.timestamp() * 1_000_000)
            true = None if true is None else f"{'s' if column == 'note' else 'i'}:{true}"
        assert values == [true], (name, column)
    ids = shown["k"].to_pylist()
    assert sorted(keys(scan(loaded, "k"))) == ids
    for count in (1, 99, 150, 400):
        found = keys(scan(loaded, "k", limit=count))
        assert len(found) >= min(count, len(ids))
        for descending in (False, True):
            top = {"column": "k", "descending": descending, "nulls_first": False, "count": count}
            best = sorted(keys(scan(loaded, "k", top=top)), reverse=descending)[:count]
            assert best == sorted(ids, reverse=descending)[:count]
        notes = {"column": "note", "descending": False, "nulls_first": True, "count": count}
        nulls = shown["note"].null_count
        some = colonnade.open(path).scan(["k", "note"], seen_at=moment).to_arrow()
        chosen = {*keys(scan(loaded, "k", top=notes))}
        missing = [k for k, note in zip(*some.to_pydict().values(), strict=True) if note is None]
        assert len(chosen & {*missing}) >= min(count, nulls)


def test_all_requests_of_one_query_have_one_time_and_the_next_query_has_its_own(path: str) -> None:
    first = load({"path": path, "options": {}, "query": 71_001})
    assert abs(first["view"]["now"] - now_ms()) < 60_000
    assert first == load({"path": path, "options": {}, "query": 71_001})
    later = load({"path": path, "options": {}, "query": 71_002})
    assert later["view"]["now"] >= first["view"]["now"]


def test_an_earlier_epoch_is_seen_at_its_own_time_unless_an_option_says_otherwise(
    path: str,
) -> None:
    table = colonnade.open(path)
    written = table.time_of(3)
    assert written is not None
    pinned = load_table(path, versionAsOf="3")
    assert pinned["view"]["now"] == round(written.timestamp() * 1000)
    assert load_table(path, versionAsOf="3", seenAt="now")["view"]["now"] > pinned["view"]["now"]
    noon = round(NOON.timestamp() * 1000)
    asked = load_table(path, versionAsOf="3", seenAt="2024-05-01 12:00:00")
    assert (asked["view"]["now"], asked["seen_at"]) == (noon, "2024-05-01 12:00:00")
    assert sorted(keys(scan(asked, "k"))) == [*range(200)]
    with pytest.raises(colonnade.InvalidInputError, match="'soon' is not a time"):
        load_table(path, seenAt="soon")


def test_a_table_in_which_nothing_expires_has_no_time(tmp_path: Path) -> None:
    colonnade.create(tmp_path / "t", pa.schema([("k", pa.int64())]))
    assert load_table(str(tmp_path / "t"))["view"]["now"] is None


def test_deletes_and_metadata_tables_count_what_a_query_sees(path: str) -> None:
    def may_delete(hours: float) -> bool:
        loaded = load_table(path, seenAt=(NOON + HOUR * hours).isoformat())
        column: dict[str, Any] = {"column": ["k"]}
        tree = {"op": "<", "args": [column, {"type": "bigint", "value": "50"}]}
        asked = {"view": loaded["view"], "filters": [tree], "count_rows": "false"}
        return bool(deletes.can_delete(asked)["yes"])

    assert not may_delete(0)
    assert may_delete(11), "all rows of that RowSet have expired"
    table = colonnade.open(path)
    assert len([*TABLES["rowsets"][1](table)]) == 4, "they are still stored"
    nulls = {row[1]: row[6] for row in TABLES["columns"][1](table)}
    assert nulls == {"k": 0, "ts": 0, "note": 0}, "by now all rows have expired"


def lived(folder: Path) -> str:
    """A table of one row, which expires in half an hour."""
    ends = datetime.now(timezone.utc) + HOUR / 2
    made = pa.table({"k": [7], "ends": pa.array([ends], pa.timestamp("us", "UTC"))})
    colonnade.create(folder, made.schema, properties={"ttl.expires": "ends"}).append(made)
    return str(folder)


def pass_hours(monkeypatch: pytest.MonkeyPatch, hours: int) -> None:
    real = time.time_ns
    monkeypatch.setattr(time, "time_ns", lambda: real() + hours * 3_600_000_000_000)


def test_a_statement_has_one_time_from_its_scan_to_its_commit_however_long_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lived(tmp_path / "t")
    read = load({"path": path, "options": {}, "query": 71})
    agreed = read["view"]["agreed"]
    pass_hours(monkeypatch, 1)
    asked = {"path": path, "view": read["view"], "options": {}}
    for query in (71, 72):  # Spark asks with another number after a second.
        planned = plan_write({**asked, "columns": read["columns"], "query": query})
        assert json.loads(planned["job"])["time"] == agreed
    filled = expiring_rows({**asked, "options": {"ttl": "2 hours"}})
    assert filled["stored"] == (agreed["present_ms"] + 7_200_000) * 1000
    later = load({"path": path, "options": {}, "query": 73})["view"]
    assert later["agreed"]["earliest_ms"] > agreed["earliest_ms"]
    assert later["now"] > read["view"]["now"]


def test_a_row_that_expires_during_a_statement_lives_for_its_scan_and_for_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lived(tmp_path / "t")
    view = load({"path": path, "options": {}, "query": 81})["view"]
    assert keys(scan({"view": view}, "k")) == [7]
    pass_hours(monkeypatch, 1)
    tree = {"op": "=", "args": [{"column": ["k"]}, {"type": "bigint", "value": "7"}]}
    asked = {"path": path, "view": view, "filters": [tree], "options": {}}
    deleted = deletes.delete_where({**asked, "transaction": new_transaction_id()})
    assert deleted["epoch"] == view["epoch"] + 1
    table = colonnade.open(path)
    table.alter(AlterProperties(remove=("ttl.expires",)))
    assert table.scan().to_arrow().num_rows == 0


def test_a_transaction_has_one_time_in_spark_for_queries_and_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = lived(tmp_path / "t")
    own = TRANSACTIONS.begin(locate(StoreAddress.of(path)), CommitSettings())
    with TRANSACTIONS.within(own):
        first = load({"path": path, "options": {}, "query": 91})
        pass_hours(monkeypatch, 1)
        second = load({"path": path, "options": {}, "query": 92})
        assert (second["view"]["agreed"], second["view"]["now"]) == (
            first["view"]["agreed"],
            first["view"]["agreed"]["earliest_ms"],
        )
        shown = load({"path": path, "options": {"seenAt": "now"}})["view"]
        assert shown["now"] > first["view"]["now"]
        TRANSACTIONS.end(lambda each: each.rollback())
