"""Rows and values of a table live as long as its properties say."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.errors import ColonnadeError, ConflictError, InvalidInputError
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AlterProperties,
    DropColumn,
    RenameColumn,
    SetPrimaryKey,
    WidenColumn,
)
from colonnade.tableformat.table.design.lifetimes import lifetime_properties
from colonnade.tableformat.table.design.properties import shown_properties
from tests.clocked import HOUR_MS, Clocked, moment

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("day", pa.date32()),
        ("gone", pa.timestamp("us")),
        ("note", pa.string()),
        ("shape", pa.struct([("x", pa.int64()), ("y", pa.list_(pa.string()))])),
    ]
)


def row(id: int, at_ms: int, gone_ms: int | None = None) -> dict[str, Any]:
    at = moment(at_ms)
    gone = None if gone_ms is None else moment(gone_ms).replace(tzinfo=None)
    shape = {"x": id, "y": [str(id)]}
    return {"id": id, "ts": at, "day": at.date(), "gone": gone, "note": f"n{id}", "shape": shape}


def rows(*given: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(given), SCHEMA)


def ids(scan: Any) -> list[int]:
    return sorted(scan.to_arrow()["id"].to_pylist())


def test_rows_expire_by_a_column_at_once_and_an_earlier_epoch_keeps_showing_them() -> None:
    world = Clocked(SCHEMA, {"ttl": "2 hours", "ttl.column": "ts"})
    start = world.now_ms
    world.table.append(rows(row(1, start - HOUR_MS), row(2, start), row(3, start + HOUR_MS)))
    written = world.table.epoch
    assert ids(world.table.scan()) == [1, 2, 3]
    world.now_ms = start + HOUR_MS
    assert ids(world.table.scan()) == [2, 3], "a row of exactly its age has expired"
    assert ids(world.table.scan(where="id <= 2")) == [2]
    assert ids(world.table.scan(epoch=written)) == [1, 2, 3]
    assert ids(world.table.scan(epoch=written, seen_at="now")) == [2, 3]
    assert ids(world.table.scan(seen_at=moment(start + 2 * HOUR_MS))) == [3]
    assert ids(world.table.scan(timestamp=moment(world.now_ms))) == [1, 2, 3]
    world.now_ms = start + 4 * HOUR_MS
    assert ids(world.table.scan()) == []
    assert ids(world.table.scan(seen_at="2024-10-04 12:00:00")) == [1, 2, 3]


def test_rows_expire_by_a_date_at_midnight_utc() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 day", "ttl.column": "DAY"})
    midnight = world.now_ms // DAY_MS * DAY_MS
    world.table.append(rows(row(1, midnight + 5 * HOUR_MS)))
    world.now_ms = midnight + DAY_MS - 1
    assert ids(world.table.scan()) == [1]
    world.now_ms += 1
    assert ids(world.table.scan()) == []


def test_rows_expire_after_they_were_written_and_an_update_writes_them_anew() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour"})
    world.table.append(rows(row(1, 0), row(2, 0)))
    world.now_ms += HOUR_MS // 2 + 9
    world.table.append(rows(row(3, 0)))
    world.table.update({"note": "'again'"}, "id = 2")
    world.now_ms += HOUR_MS // 2
    assert ids(world.table.scan()) == [2, 3]
    world.now_ms += HOUR_MS // 2
    assert ids(world.table.scan()) == []


def test_each_row_names_its_own_instant_and_null_means_never() -> None:
    world = Clocked(SCHEMA, {"ttl.expires": "gone"})
    start = world.now_ms
    world.table.append(rows(row(1, 0, start + 99), row(2, 0), row(3, 0, start + HOUR_MS)))
    assert ids(world.table.scan()) == [1, 2, 3]
    world.now_ms += 99
    assert ids(world.table.scan()) == [2, 3]
    world.now_ms += 50 * 365 * DAY_MS
    assert ids(world.table.scan()) == [2]


def test_values_expire_and_their_rows_stay_also_for_conditions_and_updates() -> None:
    world = Clocked(SCHEMA, {"ttl.note": "1 hour", "ttl.shape": "2 hours", "ttl.column": "ts"})
    start = world.now_ms
    world.table.append(rows(row(1, start - HOUR_MS // 2), row(2, start), row(3, start)))
    world.now_ms = start + HOUR_MS // 2
    found = world.table.scan(["id", "note", "shape"]).to_arrow().to_pylist()
    assert [each["note"] for each in found] == [None, "n2", "n3"]
    assert found[0]["shape"] == {"x": 1, "y": ["1"]}
    assert ids(world.table.scan(["id"], where="note is null")) == [1]
    assert ids(world.table.scan(["id"], where="note = 'n1'")) == []
    assert world.table.delete("note is null").rows_deleted == 1
    world.now_ms = start + 2 * HOUR_MS
    assert ids(world.table.scan(["id"], where="shape is null and note is null")) == [2, 3]
    world.table.alter(AlterProperties(remove=("ttl.note", "ttl.shape", "ttl.column")))
    found = world.table.scan(["note"]).to_arrow()["note"].to_pylist()
    assert found == ["n2", "n3"], "nothing was purged"


def test_a_rowset_hides_a_deleted_range_and_expired_values_at_once_for_all_statements() -> None:
    lives = {"ttl.note": "1 hour", "ttl.column": "ts"}
    world = Clocked(SCHEMA, lives, primary_key=["id"], sort_key=["id"])
    start = world.now_ms

    def seen() -> list[tuple[int, str | None]]:
        found = world.table.scan(["id", "note"]).to_arrow().to_pylist()
        return sorted((each["id"], each["note"]) for each in found)

    old, young = start - HOUR_MS, start + HOUR_MS
    world.table.append(rows(*(row(id, young if id % 2 else old) for id in range(1, 9))))
    world.table.delete_range("id BETWEEN 3 AND 6")
    assert world.table._state.range_tombstones, "no row was read"
    world.now_ms = start + HOUR_MS // 2
    assert seen() == [(1, "n1"), (2, None), (7, "n7"), (8, None)]
    found = world.table.get([*range(9)], ["id", "note"]).to_pylist()
    assert [(each["id"], each["note"]) for each in found] == seen()
    world.table.add_column("copy", pa.string(), lambda given: given["note"], columns=["note"])
    world.table.update({"gone": moment(start).replace(tzinfo=None)}, "note IS NULL")
    gone = world.table.scan(["id"], where="gone IS NOT NULL")
    assert ids(gone) == [2, 8]
    world.table.upsert(world.table.scan(where="id = 8").to_arrow().set_column(0, "id", [[4]]))
    assert seen() == [(1, "n1"), (2, None), (4, None), (7, "n7"), (8, None)]
    assert world.table.delete("note IS NULL AND id < 8").rows_deleted == 2
    world.table.optimize().option("deleted-share", 0).executeCompaction()
    assert seen() == [(1, "n1"), (7, "n7"), (8, None)]
    copies = world.table.scan(["id", "copy"]).to_arrow().to_pylist()
    assert sorted((each["id"], each["copy"]) for each in copies) == [
        (1, "n1"),
        (7, "n7"),
        (8, None),
    ]
    assert not world.table.verify(4).findings


def test_a_computed_column_sees_expired_values_as_null_and_leaves_them_stored() -> None:
    world = Clocked(SCHEMA, {"ttl.note": "1 hour", "ttl.column": "ts"})
    start = world.now_ms
    old, young = start - HOUR_MS, start + HOUR_MS
    world.table.append(rows(row(1, old), row(2, young), row(3, old), row(4, young)))
    world.now_ms = start + HOUR_MS // 2
    world.table.add_column("copy", pa.string(), lambda given: given["note"], columns=["note"])
    assert world.table.scan(["copy"]).to_arrow()["copy"].to_pylist() == [None, "n2", None, "n4"]
    world.table.backfill("copy", "'none'", "note IS NULL AND id = 1")
    with pytest.raises(InvalidInputError, match="'note' cannot be filled, because its values exp"):
        world.table.backfill("note", "'new'")
    world.table.alter(AlterProperties(remove=("ttl.note", "ttl.column")))
    found = world.table.scan(["note", "copy"]).to_arrow().to_pylist()
    assert [each["copy"] for each in found] == ["none", "n2", None, "n4"]
    assert [each["note"] for each in found] == ["n1", "n2", "n3", "n4"], "nothing was purged"


def test_an_expired_row_is_gone_for_statements_get_and_transactions() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.column": "ts"}, primary_key=["id"])
    start = world.now_ms
    world.table.append(rows(row(1, start), row(2, start - HOUR_MS // 2), row(3, start)))
    world.now_ms += HOUR_MS // 2
    assert world.table.get(2) is None
    assert world.table.get(1) is not None
    assert world.table.update({"note": "'x'"}).rows_updated == 2
    assert world.table.delete("id = 2", count_rows=True).rows_deleted == 0
    with world.database.transaction() as transaction:
        seen = transaction.table("t")
        world.now_ms += HOUR_MS
        assert ids(seen.scan()) == [1, 3], "a transaction sees everything at one time"
        assert seen.delete().rows_deleted == 2
    assert ids(world.table.scan()) == []


def test_a_clock_before_the_head_counts_as_the_time_of_the_head() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.column": "ts"})
    start = world.now_ms
    world.table.append(rows(row(1, start - HOUR_MS // 2), row(2, start)))
    world.now_ms += HOUR_MS // 2
    world.table.append(rows(row(3, start)))
    world.now_ms -= HOUR_MS // 2
    assert ids(world.table.scan()) == [2, 3]


def test_lifetimes_are_shown_as_properties_with_the_present_names_of_columns() -> None:
    given = {"ttl": "90 minutes", "ttl.column": "TS", "ttl.Note": "1 Day", "ttl.expires": "gone"}
    world = Clocked(SCHEMA, given)
    stated = {"ttl": "90 minutes", "ttl.column": "ts", "ttl.expires": "gone", "ttl.note": "1 day"}
    assert lifetime_properties(world.table._state) == stated
    assert world.table._state.properties == {}
    world.table.alter(RenameColumn("note", "remark"), RenameColumn("ts", "at"))
    world.table.alter(AlterProperties({"ttl.grace": "none", "color": "red"}, ("ttl.expires",)))
    assert shown_properties(world.table._state) == {
        "ttl": "90 minutes",
        "ttl.column": "at",
        "ttl.remark": "1 day",
        "ttl.grace": "none",
        "color": "red",
    }
    world.table.alter(AlterProperties(remove=("ttl", "TTL", "ttl.column", "ttl.grace", "ttl.x")))
    assert world.table._state.lifetimes is not None, "values still expire, now after their write"
    assert world.table._state.lifetimes.since_ms >= world.now_ms
    world.table.alter(AlterProperties(remove=("ttl.REMARK",)))
    assert world.table._state.lifetimes is None


def test_a_changed_time_to_live_counts_at_once_for_rows_that_are_stored() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.column": "ts"})
    world.table.append(rows(row(1, world.now_ms)))
    world.now_ms += 2 * HOUR_MS
    assert ids(world.table.scan()) == []
    world.table.alter(AlterProperties({"ttl": "3 hours"}))
    assert ids(world.table.scan()) == [1]
    world.table.alter(AlterProperties({"ttl": "1 second"}))
    assert ids(world.table.scan()) == []
    world.table.alter(AlterProperties(remove=("ttl", "ttl.column")))
    assert ids(world.table.scan()) == [1]


@pytest.mark.parametrize("inside", ["RowSets that have expired", "a RowSet with some expired rows"])
def test_a_longer_time_to_live_shows_no_expired_row_of_a_range_that_was_deleted(
    inside: str,
) -> None:
    world = Clocked(SCHEMA, {"ttl": "1 hour", "ttl.column": "ts"}, primary_key=["id"])
    given = [row(1, world.now_ms), row(2, world.now_ms + 9 * HOUR_MS)]
    world.table.append(rows(given[0]) if inside.startswith("RowSets") else rows(*given))
    world.now_ms += 2 * HOUR_MS
    world.table.delete_range("id BETWEEN 1 AND 2")
    assert not world.table._state.range_tombstones, "bounds decide it for the whole RowSet"
    world.table.alter(AlterProperties(remove=("ttl", "ttl.column")))
    assert ids(world.table.scan()) == []


def test_rows_that_were_written_before_count_from_the_time_of_the_change() -> None:
    world = Clocked(SCHEMA)
    world.table.append(rows(row(1, 0)))
    world.now_ms += DAY_MS
    world.table.alter(AlterProperties({"ttl": "1 hour"}))
    assert ids(world.table.scan()) == [1]
    world.now_ms += HOUR_MS // 2
    world.table.alter(AlterProperties({"ttl": "50 minutes"}))
    world.now_ms += HOUR_MS // 2
    assert ids(world.table.scan()) == []


REFUSED = {
    "a time that is none": ({"ttl": "soon"}, "'ttl' must be a time in seconds, minutes, hours or"),
    "a negative time": ({"ttl": "-3 days"}, "'ttl' must be a time"),
    "no time at all": ({"ttl": "0 days"}, "'ttl' must be a time"),
    "an absurd time": ({"ttl": "999999 days"}, "at most 366000 days, not '999999 days'"),
    "a time in years": ({"ttl": "1 year"}, "in seconds, minutes, hours or days, such as 30 days"),
    "an absent column": ({"ttl": "1 day", "ttl.column": "at"}, "'ttl.column' of table 't' must"),
    "a column of another type": ({"ttl": "1 day", "ttl.column": "id"}, "'id' of type long is no"),
    "a text that expires": ({"ttl.expires": "note"}, "'note' of type string is no time"),
    "an absent value": ({"ttl.price": "1 day"}, "has no column 'price', whose values property"),
    "a field of a struct": ({"ttl.shape.x": "1 day"}, "has no column 'shape.x'"),
    "a time of values": ({"ttl.ts": "1 day", "ttl.column": "ts"}, "itself a time of expiry"),
    "a column of the key": ({"ttl.id": "1 day"}, "'id' cannot expire, because the column is part"),
    "a column without a time": ({"ttl.column": "ts"}, "set 'ttl', or unset 'ttl.column'"),
    "a grace of nothing": ({"ttl.grace": "1 day"}, "nothing that expires"),
    "a grace that is none": ({"ttl": "1 day", "ttl.grace": "x"}, "'ttl.grace' must be a time"),
    "a column twice": ({"ttl.note": "1 day", "ttl.Note": "2 days"}, "are the same one"),
    "a share above 1": ({"ttl.purge.share": "20"}, "'ttl.purge.share' must be a number"),
    "a column named column": ({"ttl.column": "30 days"}, "must name one of its columns"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_table_can_keep_is_refused_in_one_sentence(case: str) -> None:
    properties, message = REFUSED[case]
    world = Clocked(SCHEMA, primary_key=["id"])
    for refused in (
        lambda: world.database.create_table("u", SCHEMA, properties=properties, primary_key=["id"]),
        lambda: world.table.alter(AlterProperties(properties)),
    ):
        before = world.table.refresh().epoch
        with pytest.raises(ColonnadeError) as error:
            refused()
        assert message.replace("'t'", "") in error.value.message.replace("'t'", "").replace(
            "'u'", ""
        )
        assert error.value.message.endswith(".")
        assert world.table.refresh().epoch == before


def test_what_the_time_to_live_needs_cannot_be_dropped_or_taken_apart() -> None:
    world = Clocked(SCHEMA, {"ttl": "1 day", "ttl.column": "ts", "ttl.note": "2 days"})
    cases = (
        ([DropColumn("ts")], "because property 'ttl.column' needs it; unset that property first"),
        ([DropColumn("note")], "because property 'ttl.note' needs it"),
        ([AlterProperties(remove=("ttl", "ttl.note"))], "unset 'ttl.column'"),
        ([SetPrimaryKey("ts", "note")], "'note' cannot expire"),
        ([RenameColumn("note", "grace")], "named 'grace' cannot expire, because property 'ttl.gr"),
        (
            [RenameColumn("note", "purge.share")],
            "property 'ttl.purge.share' says something else",
        ),
    )
    for changes, message in cases:
        with pytest.raises(ColonnadeError, match=message):
            world.table.alter(*changes)
    world.table.alter(AlterProperties(remove=("ttl.note",)), DropColumn("note"))
    world.table.alter(
        AddColumn(SchemaField(name="remark", type="string")),
        AlterProperties({"ttl.remark": "3 days"}),
    )
    shown = {"ttl": "1 day", "ttl.column": "ts", "ttl.remark": "3 days"}
    assert lifetime_properties(world.table._state) == shown


def test_values_that_a_generated_column_is_computed_from_cannot_expire() -> None:
    world = Clocked(SCHEMA)
    with pytest.raises(ColonnadeError, match="generated column 'day' is computed from it"):
        world.database.create_table(
            "u", SCHEMA, generated={"day": "CAST(gone AS DATE)"}, properties={"ttl.gone": "1 day"}
        )


def test_a_restore_keeps_the_time_to_live_and_is_refused_without_its_columns() -> None:
    world = Clocked(SCHEMA)
    before = world.table.epoch
    world.table.alter(AddColumn(SchemaField(name="at", type="timestamp")))
    wide = world.table.epoch
    world.table.alter(AlterProperties({"ttl": "1 day", "ttl.column": "at"}))
    with pytest.raises(ColonnadeError, match="'at' .* cannot be left out by a restore, because"):
        world.table.restore(epoch=before)
    world.table.restore(epoch=wide)
    assert lifetime_properties(world.table._state) == {"ttl": "1 day", "ttl.column": "at"}
    kept = world.table.epoch
    world.database.drop_table("t")
    world.database.restore(epoch=kept)
    assert lifetime_properties(world.database.table("t")._state) == {
        "ttl": "1 day",
        "ttl.column": "at",
    }


def test_two_writers_who_change_the_time_to_live_at_once_conflict() -> None:
    world = Clocked(SCHEMA)
    other = world.reopened()
    world.table.alter(AlterProperties({"ttl": "1 day"}))
    with pytest.raises(ConflictError):
        other.alter(AlterProperties({"ttl": "2 days"}))


def test_columns_of_another_epoch_show_expired_values_as_null() -> None:
    schema = pa.schema([("id", pa.int64()), ("n", pa.int32())])
    world = Clocked(schema, {"ttl.n": "1 hour"})
    world.table.append(pa.table({"id": [1], "n": pa.array([7], pa.int32())}))
    narrow = world.table.epoch
    world.table.alter(WidenColumn("n", "long"))
    world.now_ms += 2 * HOUR_MS
    for columns in (narrow, world.table.epoch):
        for seen_at, value in ((None, 7), ("now", None)):
            scan = world.table.scan(epoch=narrow, schema_epoch=columns, seen_at=seen_at)
            assert scan.to_arrow()["n"].to_pylist() == [value]
