"""The time to live of one write fills the column that says when each row expires, on every road."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import WriteSettings
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.write.expiry import Expiry, expiring, expiry
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.run import write_rows
from tests.clocked import HOUR_MS, MINUTE_MS, Clocked

NOW = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
MS = int(NOW.timestamp() * 1000)
UTC = pa.timestamp("us", "UTC")
HOUR = WriteSettings(ttl="1 hour")


def column(kind: str) -> SchemaField:
    return SchemaField(id=1, name="e", type=kind)


@pytest.mark.parametrize(
    ("kind", "array", "told"),
    [
        ("timestamp", UTC, NOW + timedelta(hours=1)),
        ("timestamp_ntz", pa.timestamp("us"), (NOW + timedelta(hours=1)).replace(tzinfo=None)),
        ("date", pa.date32(), date(2026, 3, 2)),
    ],
)
def test_rows_without_a_time_get_one_and_others_keep_theirs(
    kind: str, array: pa.DataType, told: Any
) -> None:
    expires = expiry("t", column(kind), "1 hour", MS)
    days = kind == "date"
    own = pa.array([None, 10 if days else 10**9, None], pa.int32() if days else pa.int64())
    rows = pa.table({"a": [1, 2, 3], "E": own.cast(array)})
    filled = pa.Table.from_batches(expiring(rows.to_batches(), expires))
    assert filled.column_names == ["a", "E"]
    assert filled["E"].to_pylist() == [told, rows["E"][1].as_py(), told]
    lacking = pa.Table.from_batches(expiring(rows.select(["a"]).to_batches(), expires))
    assert lacking["e"].to_pylist() == [told] * 3
    assert lacking["e"].type == array
    assert pa.Table.from_batches(expiring(rows.to_batches(), None)).equals(rows)


def test_a_date_is_the_first_midnight_that_is_not_too_early() -> None:
    midnight = int(datetime(2026, 3, 2, tzinfo=timezone.utc).timestamp() * 1000)
    days = midnight // 86_400_000
    assert Expiry(column("date"), midnight).stored == days
    assert Expiry(column("date"), midnight + 1).stored == days + 1
    assert Expiry(column("timestamp"), midnight).stored == midnight * 1000


def test_a_table_without_such_a_column_or_with_a_generated_one_is_refused() -> None:
    with pytest.raises(InvalidInputError, match=r"'t' has no column .*'ttl\.expires'"):
        expiry("t", None, "1 hour", MS)
    generated = column("timestamp").model_copy(update={"generated": object()})
    with pytest.raises(InvalidInputError, match="'e' of table 't' .* is generated"):
        expiry("t", generated, "1 hour", MS)
    for text in ("", "soon", "-1 hour", "0 days", "400000 days"):
        with pytest.raises(InvalidInputError, match="Option ttl must be a time"):
            WriteSettings(ttl=text)


def table(folder: Path, *, keyed: bool = False, **more: Any) -> colonnade.ArrowTable:
    columns = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.int64()), ("e", UTC)])
    key = ["id"] if keyed else []
    properties = {"ttl.expires": "e"}
    return colonnade.create(folder, columns, primary_key=key, properties=properties, **more)


def lives(table: colonnade.ArrowTable) -> dict[int, bool]:
    """Whether the row of an id expires about an hour from now; the others never expire."""
    rows = table.scan(["id", "e"]).to_arrow().to_pylist()
    now = datetime.now(timezone.utc)
    for each in rows:
        assert each["e"] is None or timedelta(minutes=50) < each["e"] - now < timedelta(hours=1)
    return {each["id"]: each["e"] is not None for each in rows}


ROWS = pa.table({"id": [1, 2], "v": [1, 2]})
ROADS: dict[str, Callable[[colonnade.ArrowTable], object]] = {
    "append": lambda t: t.append(ROWS, settings=HOUR),
    "append of a stream": lambda t: t.append(ROWS.to_reader(), settings=HOUR),
    "append that evolves": lambda t: t.append(ROWS, settings=HOUR, evolve=True),
    "overwrite": lambda t: t.overwrite(ROWS, settings=HOUR),
    "overwrite where": lambda t: t.overwrite(ROWS, "id < 3", settings=HOUR),
    "overwrite partitions": lambda t: t.overwrite_partitions(ROWS, settings=HOUR),
    "upsert on": lambda t: t.upsert(ROWS, "id", settings=HOUR),
}


@pytest.mark.parametrize("road", ROADS)
def test_every_road_of_new_rows_fills_the_column(tmp_path: Path, road: str) -> None:
    t = table(tmp_path / "t", partition_by=["id"] if "partitions" in road else [])
    t.append(pa.table({"id": [9], "v": [9]}))
    ROADS[road](t)
    kept = {} if road == "overwrite" else {9: False}
    assert lives(t) == {1: True, 2: True, **kept}


def test_upserts_give_the_time_to_new_rows_and_to_rows_that_they_change(tmp_path: Path) -> None:
    t = table(tmp_path / "t", keyed=True)
    t.append(pa.table({"id": [1, 2], "v": [1, 2]}))
    t.upsert(pa.table({"id": [2, 3], "v": [5, 6]}), settings=HOUR)
    assert lives(t) == {1: False, 2: True, 3: True}
    t.append(
        pa.table({"id": [1], "v": [8]}),
        settings=WriteSettings(ttl="1 hour", on_duplicate="merge"),
    )
    assert lives(t) == {1: True, 2: True, 3: True}
    assert sorted(t.scan(["v"]).to_arrow()["v"].to_pylist()) == [5, 6, 8]


def test_statements_of_a_transaction_fill_the_column(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "db")
    columns = pa.schema([("id", pa.int64()), ("e", UTC)])
    t = database.create_table("t", columns, properties={"ttl.expires": "e"})
    with database.transaction() as both:
        both.table("t").append(pa.table({"id": [1]}), settings=HOUR)
        both.table("t").overwrite(pa.table({"id": [2]}), "id = 2", settings=HOUR)
    assert lives(t) == {1: True, 2: True}


def test_a_column_that_is_not_null_may_be_left_out(tmp_path: Path) -> None:
    columns = pa.schema([("id", pa.int64()), pa.field("e", UTC, nullable=False)])
    t = colonnade.create(tmp_path / "t", columns, properties={"ttl.expires": "e"})
    t.append(pa.table({"id": [1]}), settings=HOUR)
    assert lives(t) == {1: True}
    with pytest.raises(InvalidInputError, match="'e'"):
        t.append(pa.table({"id": [1]}))


def test_refused_writes_leave_the_table_unchanged(tmp_path: Path) -> None:
    t = colonnade.create(tmp_path / "t", pa.schema([("id", pa.int64()), ("e", UTC)]))
    epoch = t.append(pa.table({"id": [1]}))
    rows = pa.table({"id": [2]})
    writes: list[Callable[[], object]] = [
        lambda: t.append(rows, settings=HOUR),
        lambda: t.overwrite(rows, settings=HOUR),
        lambda: t.overwrite(rows, "id = 1", settings=HOUR),
        lambda: t.overwrite_partitions(rows, settings=HOUR),
        lambda: t.upsert(pa.table({"id": [2], "e": pa.nulls(1, UTC)}), "id", settings=HOUR),
    ]
    for write in writes:
        with pytest.raises(InvalidInputError, match="option ttl cannot fill one"):
            write()
    with pytest.raises(InvalidInputError, match="Option ttl is for new rows"):
        t.update({"id": 2}, settings=HOUR)
    assert t.refresh().epoch == epoch


def test_a_job_decides_by_the_time_of_its_plan_however_long_its_tasks_run() -> None:
    columns = pa.schema([pa.field("id", pa.int64(), nullable=False), ("v", pa.int64())])
    world = Clocked(columns, {"ttl": "1 hour"}, primary_key=["id"])
    world.table.append(pa.table({"id": [1, 2], "v": [1, 2]}))
    world.now_ms += 50 * MINUTE_MS
    base, log = world.table._refresh(), world.log
    job = plan_write(world.table._location, base, "append", agreed=log.agreement.statement_time)
    planned = job.time
    assert planned is not None
    assert planned == WriteJob.model_validate_json(job.model_dump_json()).time
    new, old = ({"id": [number], "v": [9]} for number in (3, 1))
    written = [write_rows(job, pa.table(each).to_batches(), world.store) for each in (new, old)]
    world.now_ms += HOUR_MS
    # Row 1 has expired by now. It lived when the statement began.
    with pytest.raises(InvalidInputError, match="a row of the table has the key id = 1"):
        commit_written(job, written[1], log, base, fresh=True)
    commit_written(job, written[0], log, base, fresh=True)
    world.table._refresh()
    [added] = (each for each in log.rowsets.read(world.table._state) if each.id > 0)
    assert added.entry.written_ms == (planned.present_ms, planned.present_ms)
