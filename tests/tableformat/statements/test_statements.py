"""DELETE, UPDATE, upsert and overwrite by condition, through a table: rows, counts and errors."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable, CommitSettings, col
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import Epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore, ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.types.arrow_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from tests.faults import FaultyStore

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64(), nullable=False),
        ("text", pa.string()),
        ("price", pa.decimal128(9, 2)),
        ("day", pa.date32()),
        ("flag", pa.bool_()),
    ]
)


def row(i: int, **changed: Any) -> dict[str, Any]:
    made = {
        "id": i,
        "text": f"t{i}",
        "price": Decimal(i),
        "day": dt.date(2020, 1, 1) + dt.timedelta(i),
        "flag": i % 2 == 0,
    }
    return {**made, **changed}


def rows(*ids: int, **changed: Any) -> pa.Table:
    return pa.Table.from_pylist([row(i, **changed) for i in ids], SCHEMA)


def made(store: ObjectStore | None = None, schema: pa.Schema = SCHEMA) -> ArrowTable:
    """An empty table in memory whose writers never wait."""
    store = store or MemoryStore()
    location = Location(store, "t", exists=True)
    log = Log(store, pause=lambda _: None)
    base = create_database(store, lone_table=False)
    job = plan_write(location, base, "append", create=new_table("t", as_table_schema(schema)))
    return ArrowTable(location, log, commit_written(job, (), log, base))


def another(table: ArrowTable) -> ArrowTable:
    """A second writer of the same table, at the same epoch."""
    return ArrowTable(table._location, table._log, table.snapshot)


def filled(store: ObjectStore | None = None) -> ArrowTable:
    """The rows 0 to 9 and 100 to 109 in two RowSets."""
    table = made(store)
    table.append(rows(*range(10)))
    table.append(rows(*range(100, 110)))
    return table


def ids(table: ArrowTable) -> list[int]:
    table.refresh()
    return sorted(table.scan(["id"]).to_arrow()["id"].to_pylist())


def found(table: ArrowTable, where: str) -> list[dict[str, Any]]:
    return sorted(table.scan(where=where).to_arrow().to_pylist(), key=lambda r: r["id"])


def test_delete_counts_what_it_took_and_history_shows_it() -> None:
    table = filled()
    counts = table.delete("id < 3 OR id = 105")
    assert ids(table) == [*range(3, 10), *range(100, 105), *range(106, 110)]
    assert (counts.rows_deleted, counts.rowsets_touched, counts.epoch) == (4, 2, table.epoch)
    newest = table.history()[0]
    assert newest.operation == "delete"
    assert newest.parameters == {"where": "id < 3 OR id = 105"}
    assert newest.metrics == counts.metrics()
    assert newest.bytes_added == counts.bytes_written > 0


def test_a_rowset_whose_rows_are_all_gone_is_dropped() -> None:
    table = filled()
    table.delete(col("id") < 5)
    counts = table.delete("id < 10")
    assert table.state.rowsets.rowset_count == 1
    assert (counts.rows_deleted, counts.bytes_written) == (5, 0)
    assert table.delete().rows_deleted == 10
    assert table.state.rowsets.rowset_count == 0


def test_what_changes_nothing_makes_no_epoch() -> None:
    table = filled()
    before = table.epoch
    assert table.delete("id = 50").epoch == before
    assert table.update({"text": "'x'"}, "id = 50").epoch == before
    assert table.upsert(rows().slice(0, 0), on="id").epoch == before
    assert table.refresh().epoch == before


def test_update_sees_each_row_as_it_was() -> None:
    table = filled()
    values = {
        "text": "'new'",
        "price": col("price"),
        "day": dt.date(1999, 1, 2),
        "flag": "id > 4",
        "id": "id",
    }
    counts = table.update(values, "id BETWEEN 4 AND 5")
    assert counts.rows_updated == 2
    assert found(table, "text = 'new'") == [
        row(4, text="new", day=dt.date(1999, 1, 2), flag=False),
        row(5, text="new", day=dt.date(1999, 1, 2), flag=True),
    ]
    assert table.update({"flag": None}).rows_updated == 20
    assert table.scan(where="flag IS NULL").to_arrow().num_rows == 20


def test_upsert_replaces_rows_with_a_known_key_and_adds_rows_with_a_new_key() -> None:
    table = filled()
    table.delete("id = 7")
    counts = table.upsert(rows(5, 7, 105, 200, text="new"), on="id")
    assert (counts.rows_updated, counts.rows_inserted, counts.rowsets_touched) == (2, 2, 2)
    assert [r["id"] for r in found(table, "text = 'new'")] == [5, 7, 105, 200]
    assert ids(table) == [*range(10), *range(100, 110), 200]
    again = table.upsert(rows(5, text="newer"), on=["text", "id"])
    assert (again.rows_updated, again.rows_inserted) == (0, 1)
    assert ids(table).count(5) == 2
    assert table.upsert(rows(5), on="id").rows_updated == 2


def test_overwrite_by_condition_replaces_rows_anywhere_in_their_rowsets() -> None:
    table = filled()
    table.overwrite(rows(3, 4, text="new"), where="id BETWEEN 2 AND 5")
    assert ids(table) == [0, 1, 3, 4, *range(6, 10), *range(100, 110)]
    with pytest.raises(InvalidInputError, match="1 of the new rows do not meet"):
        table.overwrite(rows(3, 9), where="id < 5")


@pytest.mark.parametrize("deleted", ["id = 4", "id < 50"])
def test_overwrite_by_condition_brings_no_rows_back_that_were_deleted_meanwhile(
    deleted: str,
) -> None:
    table = filled()
    late = ArrowTable(table._location, table._log, table.snapshot)
    table.delete(deleted)
    with pytest.raises(ConflictError, match="of table 't' changed in epoch"):
        late.overwrite(rows(3, 4), where="id BETWEEN 2 AND 5")


def test_a_delete_that_statistics_decide_reads_no_data() -> None:
    store = FaultyStore(MemoryStore())
    table = filled(store)
    table.append(rows(*range(1000, 9000)))
    store.trace.clear()
    assert table.delete("id >= 1000").rows_deleted == 8000
    assert table.delete(col("day").is_null()).rows_deleted == 0
    assert [call for call in store.trace if not call.name.startswith("_manifest/")] == []


def test_a_delete_reads_only_the_columns_of_its_condition(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    plain = RowSetReader.read

    def spy(self: Any, columns: Any, **options: Any) -> Any:
        read.extend(column.name for column in columns)
        return plain(self, columns, **options)

    monkeypatch.setattr(RowSetReader, "read", spy)
    filled().delete("id = 3 AND text <> 'x'")
    assert read == ["id", "text"]


STATEMENTS: dict[str, Callable[[ArrowTable], Any]] = {
    "delete": lambda t: t.delete("id = 2"),
    "update": lambda t: t.update({"text": "'mine'"}, "id IN (2, 3)"),
    "upsert": lambda t: t.upsert(rows(2, 50), on="id"),
}


@pytest.mark.parametrize("mine", STATEMENTS)
@pytest.mark.parametrize("theirs", STATEMENTS)
def test_statements_that_meet_on_a_row_run_again(mine: str, theirs: str) -> None:
    table = filled()
    other = another(table)
    other.refresh = lambda: other.snapshot  # type: ignore[method-assign]
    STATEMENTS[theirs](table)
    STATEMENTS[mine](other)
    left = ids(table)
    assert left.count(2) == (
        0 if mine == "delete" or (theirs == "delete" and mine == "update") else 1
    )
    assert left.count(50) == ("upsert" in (mine, theirs))


def test_a_deletion_counts_only_rows_that_were_live() -> None:
    table = filled()
    other = another(table)
    other.refresh = lambda: other.snapshot  # type: ignore[method-assign]
    table.delete("id < 4")
    assert other.delete("id < 6").rows_deleted == 2
    assert table._log.read_head().epoch == 5


def test_a_conflict_that_lasts_is_reported_after_some_tries() -> None:
    table = filled()
    tries: list[int] = []
    rival = Log(table._location.store, pause=lambda _: None)

    def rivals(change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        tries.append(base.epoch)
        fresh = ArrowTable(table._location, rival, rival.read_head())
        fresh.update({"text": f"'{len(tries)}'"}, "id = 2")
        return Log.commit_change(table._log, change, base)

    table._log.commit_change = rivals  # type: ignore[method-assign]
    with pytest.raises(ConflictError, match=r"Row 2 of RowSet 0|Row 0 of RowSet"):
        table.update({"text": "'mine'"}, "id = 2")
    assert len(tries) == 10


def test_batches_and_expected_epochs_hold_for_every_statement() -> None:
    table = filled()
    run: Callable[[CommitSettings], Any]
    runs: list[Callable[[CommitSettings], Any]] = [
        lambda c: table.append(rows(300), commit=c),
        lambda c: table.delete("id = 0", commit=c),
        lambda c: table.update({"text": "'x'"}, "id = 1", commit=c),
        lambda c: table.upsert(rows(301), on="id", commit=c),
        lambda c: table.overwrite(rows(302), where="id = 302", commit=c),
        lambda c: table.overwrite(rows(303), commit=c),
    ]
    for version, run in enumerate(runs):
        with pytest.raises(ConflictError, match="expects epoch 1"):
            run(CommitSettings(expect_epoch=1))
        batch = CommitSettings(batch=("job", version), expect_epoch=table.refresh().epoch)
        run(batch)
        head = table.refresh().epoch
        run(CommitSettings(batch=("job", version), metadata="again"))
        assert table.refresh().epoch == head
    run(CommitSettings(batch=("job", 99), metadata="note"))
    assert table.history()[0].parameters["userMetadata"] == "note"


def test_what_finds_nothing_to_do_still_expects_its_epoch() -> None:
    table = filled()
    runs: list[Callable[[CommitSettings], Any]] = [
        lambda c: table.append(rows(), commit=c),
        lambda c: table.delete("id = 99", commit=c),
        lambda c: table.update({"text": "'x'"}, "id = 99", commit=c),
        lambda c: table.overwrite(rows(), where="id = 99", commit=c),
        lambda c: table.restore(epoch=table.epoch, commit=c),
    ]
    for run in runs:
        epoch = table.refresh().epoch
        run(CommitSettings(expect_epoch=epoch))
        assert table.refresh().epoch == epoch
        with pytest.raises(ConflictError, match=f"expects epoch 1, but .* {epoch}"):
            run(CommitSettings(expect_epoch=1))


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        (lambda t: t.update({"nope": 1}), "Column 'nope' does not exist"),
        (lambda t: t.update({"text.x": 1}), "Only whole columns can be set"),
        (lambda t: t.update({"id": 1, "ID": 2}), "set more than once"),
        (lambda t: t.update({"text": "hello"}), "Write text in quotes"),
        (lambda t: t.update({"id": "id + 1"}), "cannot contain 'id \\+ 1'"),
        (lambda t: t.update({"id": "'7'"}), "is long and cannot be set to string 7"),
        (lambda t: t.update({"text": "id"}, "id = -1"), "'text' is string, but the data holds int"),
        (lambda t: t.update({"id": "id > 1"}, "id = -1"), "'id' is long, but the data holds bool"),
        (lambda t: t.update({"price": "1.555"}), "cannot be set to decimal 1.555"),
        (lambda t: t.update({"price": 10**8}), "cannot be set to integer"),
        (lambda t: t.update({"day": "'yesterday'"}), "yesterday"),
        (lambda t: t.update({"day": 7}), "is date and cannot be set"),
        (lambda t: t.update({"id": None}), "'id' is NULL|NULL"),
        (lambda t: t.update({"id": float("nan")}), "cannot be set to double nan"),
        (lambda t: t.update({"text": [1]}), "cannot be set to"),
        (lambda t: t.update({"text": "id"}), "'text'"),
        (lambda t: t.update({}), "takes a dict of values"),
        (lambda t: t.update({1: 2}), "given by its name"),
        (lambda t: t.delete("nope = 1"), "'nope'"),
        (lambda t: t.delete("id"), "boolean"),
        (lambda t: t.delete("rand() < 0.5"), "RAND"),
        (lambda t: t.delete("id IN (SELECT 1)"), "SELECT"),
        (lambda t: t.delete(7), "where must be SQL text"),
        (lambda t: t.upsert(rows(1, 1), on="id"), "is in more than one"),
        (lambda t: t.upsert(rows(1, text=None), on=["id", "text"]), "is a key and is NULL"),
        (lambda t: t.upsert(rows(1).drop_columns(["text"]), on="id"), "lacks 'text'"),
        (lambda t: t.upsert(rows(1), on=[]), "one or more columns"),
        (lambda t: t.upsert(pa.table({"q": []}), on="id"), "lacks 'id'"),
        (lambda t: t.upsert(rows(1), on=["id", "id"]), "each once"),
        (lambda t: t.upsert(7, on="id"), "no Arrow interface"),
        (lambda t: t.delete("id = 1", commit=7), "must be colonnade.CommitSettings"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(
    statement: Callable[[ArrowTable], Any], message: str
) -> None:
    table = filled()
    head = table.epoch
    with pytest.raises(InvalidInputError, match=message):
        statement(table)
    assert table.refresh().epoch == head


def test_an_unknown_key_column_and_a_dropped_table_are_not_found() -> None:
    table = filled()
    for data in (rows(1), rows(1).schema.empty_table()):
        with pytest.raises(NotFoundError, match="'nope'"):
            table.upsert(data, on="nope")


PLACE = pa.struct([("x", pa.int32()), ("y", pa.string())])
NESTED = pa.schema(
    [("place", PLACE), ("places", pa.list_(PLACE)), ("by", pa.map_(pa.string(), PLACE))]
)


def test_nested_values_have_all_fields_of_their_structs_whatever_the_case() -> None:
    table = made(schema=NESTED)
    table.append(pa.table({"place": [None], "places": [None], "by": [None]}, NESTED))
    place, stored = {"Y": "b", "X": 1}, {"x": 1, "y": "b"}
    table.update({"place": place, "places": [place, None], "by": {"k": place}})
    assert table.scan().to_arrow().to_pylist() == [
        {"place": stored, "places": [stored, None], "by": [("k", stored)]}
    ]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"place": {"x": 1, "y": "b", "z": 2}}, "'place' has the unknown 'z'"),
        ({"place": {"x": 1}}, "'place' lacks 'y'"),
        ({"places": [{"x": 1, "y": "b"}, {}]}, r"'places\.element' lacks 'x', 'y'"),
        ({"by": {"k": {"x": 1}}}, r"'by\.value' lacks 'y'"),
        ({"places": {"x": 1}}, "'places' is array and cannot be set to"),
        ({"place": [1]}, "'place' is struct and cannot be set to"),
    ],
)
def test_a_nested_value_that_does_not_fit_is_refused(value: dict[str, Any], message: str) -> None:
    table = made(schema=NESTED)
    with pytest.raises(InvalidInputError, match=message):
        table.update(value)
    with pytest.raises(InvalidInputError, match="'places' of type array cannot be a key"):
        table.upsert(NESTED.empty_table(), on="places")


@pytest.mark.parametrize("where", ["id IN (0, NULL)", "id = 0 OR id = NULL", "id < 1 OR NULL"])
def test_a_null_in_a_condition_selects_no_row(where: str) -> None:
    table = filled()
    assert table.delete(where).rows_deleted == 1
    assert ids(table) == [*range(1, 10), *range(100, 110)]


VALUES = st.none() | st.integers(0, 5)
ROW = st.tuples(VALUES, st.none() | st.sampled_from(["", "x", "y"]))
CONDITION = st.sampled_from(
    [
        "a = 1", "a <> 2", "a < 3", "a IS NULL", "b = 'x'", "b <> 'y'", "a IN (1, 4)",
        "b LIKE 'x%'", "a = NULL", "NULL", "a IN (1, NULL)", "a NOT IN (2, NULL)", "k >= 0",
    ]
)  # fmt: skip
WHERE = st.one_of(
    CONDITION,
    st.builds("({} AND {})".format, CONDITION, CONDITION),
    st.builds("({} OR {})".format, CONDITION, CONDITION),
    st.builds("NOT ({} OR {})".format, CONDITION, CONDITION),
)
STATEMENT = st.one_of(
    st.tuples(st.just("append"), st.lists(ROW, min_size=1, max_size=6)),
    st.tuples(st.just("delete"), WHERE),
    st.tuples(st.just("update"), WHERE, st.sampled_from(["a", "7", "NULL"])),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(STATEMENT, max_size=8))
def test_the_same_statements_leave_the_same_rows_in_duckdb(statements: list[Any]) -> None:
    schema = pa.schema([("k", pa.int64()), ("a", pa.int64()), ("b", pa.string())])
    table, number = made(schema=schema), 0
    with duckdb.connect() as rival:
        rival.execute("CREATE TABLE t (k BIGINT, a BIGINT, b VARCHAR)")
        for statement in statements:
            match statement:
                case ("append", new):
                    data = [(number + i, *each) for i, each in enumerate(new)]
                    number += len(data)
                    table.append(
                        pa.Table.from_pylist(
                            [dict(zip(schema.names, each, strict=True)) for each in data], schema
                        )
                    )
                    rival.executemany("INSERT INTO t VALUES (?, ?, ?)", data)
                case ("delete", where):
                    [deleted] = rival.execute(f"DELETE FROM t WHERE {where}").fetchone() or (0,)
                    assert table.delete(where).rows_deleted == deleted
                case ("update", where, value):
                    changed = rival.execute(f"UPDATE t SET a = {value}, b = 'u' WHERE {where}")
                    [updated] = changed.fetchone() or (0,)
                    counts = table.update({"a": value, "b": "'u'"}, where)
                    assert counts.rows_updated == updated
        want = rival.execute("SELECT * FROM t ORDER BY k").fetchall()
    got = table.scan().to_arrow().sort_by("k").to_pylist()
    assert [tuple(each.values()) for each in got] == want


KEYED = st.dictionaries(
    st.tuples(st.integers(0, 3), st.sampled_from("xyz")), st.integers(-9, 9), max_size=5
)


@settings(max_examples=60, deadline=None)
@given(st.lists(KEYED, max_size=6))
def test_upserts_agree_with_a_dict(upserts: list[dict[tuple[int, str], int]]) -> None:
    schema = pa.schema([("a", pa.int64()), ("b", pa.string()), ("v", pa.int64())])
    table, model = made(schema=schema), dict[tuple[int, str], int]()
    for new in upserts:
        data = [{"a": a, "b": b, "v": v} for (a, b), v in new.items()]
        counts = table.upsert(pa.Table.from_pylist(data, schema), on=["b", "a"])
        assert counts.rows_updated == len(model.keys() & new.keys())
        assert counts.rows_inserted == len(new.keys() - model.keys())
        model.update(new)
    got = {(r["a"], r["b"]): r["v"] for r in table.scan().to_arrow().to_pylist()}
    assert got == model
    assert table.scan().to_arrow().num_rows == len(model)
