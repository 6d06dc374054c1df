"""Transactions: one snapshot, their own writes, one epoch over several tables or nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade import ArrowDatabase, CommitSettings
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    AlreadyExistsError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.deletion_vector import read_deletion_vector
from colonnade.manifests.object_names import CHECKPOINTS
from colonnade.manifests.state.snapshot import LiveRowSet, RowSets, Snapshot, TableState
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.transaction.transaction import (
    ArrowTransaction,
    ArrowTransactionTable,
)
from tests.examples_of import examples

SCHEMA = pa.schema([("id", pa.int64()), ("v", pa.int64())])


def rows(*ids: int, v: int = 0) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int64()), "v": pa.array([v] * len(ids), pa.int64())})


def database(log: Log | None = None) -> ArrowDatabase:
    """Two tables: `a` with the ids 0 to 9, `b` with 100 to 104."""
    log = log or Log(MemoryStore(), pause=lambda _: None)
    base = create_database(log.store, lone_table=False)
    made = ArrowDatabase(log.store, log, base)
    made.create_table("a", SCHEMA).append(rows(*range(10)))
    made.create_table("b", SCHEMA).append(rows(*range(100, 105)))
    return made


def read(table: Any) -> dict[int, int]:
    found = table.scan().to_arrow().to_pylist()
    assert len({r["id"] for r in found}) == len(found)
    return {r["id"]: r["v"] for r in found}


def contents(db: ArrowDatabase) -> dict[str, dict[int, int]]:
    return {name: read(db.table(name)) for name in db.tables()}


def test_several_tables_change_in_one_epoch() -> None:
    db = database()
    before = db.refresh().epoch
    with db.transaction() as tx:
        assert tx.table("a").delete("id < 3").rows_deleted == 3
        tx.table("b").update({"v": 7}, "id = 100")
        tx.table("b").append(rows(200))
        tx.create("c", SCHEMA).append(rows(1, 2))
        assert contents(db)["a"] == dict.fromkeys(range(10), 0)
        assert tx.tables() == ["a", "b", "c"]
        assert db.tables() == ["a", "b"]
    assert db.refresh().epoch == before + 1
    found = contents(db)
    assert sorted(found["a"]) == [*range(3, 10)]
    assert found["b"] == {100: 7, 101: 0, 102: 0, 103: 0, 104: 0, 200: 0}
    assert found["c"] == {1: 0, 2: 0}
    [newest] = db.table("b").history(limit=1)
    assert newest.operation == "transaction"
    assert newest.parameters["statements"] == ("delete a; update b; append b; create c; append c")
    assert newest.metrics["rows_deleted"] == 3
    assert newest.metrics["rows_inserted"] == 3


def test_a_transaction_sees_only_its_own_writes() -> None:
    db = database()
    with db.transaction() as tx:
        a = tx.table("a")
        a.append(rows(20, 21, 22, v=1))
        db.table("a").append(rows(30))
        assert a.update({"v": 5}, "id IN (1, 20)").rows_updated == 2
        assert a.upsert(rows(1, 21, 40, v=9), on="id").rows_inserted == 1
        assert a.delete("id IN (2, 22)").rows_deleted == 2
        want = dict.fromkeys([0, *range(3, 10)], 0) | {1: 9, 20: 5, 21: 9, 40: 9}
        assert read(a) == want
        assert a.delete("v = 5").rows_deleted == 1
        del want[20]
        assert a.scan(["id"], "v = 9").to_arrow().num_rows == 3
    assert contents(db)["a"] == want | {30: 0}


def test_tables_are_replaced_dropped_and_made_anew() -> None:
    db = database()
    with db.transaction() as tx:
        tx.table("a").append(rows(50))
        tx.table("a").overwrite(rows(1, 2))
        tx.table("a").delete("id = 1")
        tx.table("a").overwrite(rows(7, 8), where="id > 5")
        tx.drop("b")
        again = tx.create("b", SCHEMA)
        again.append(rows(6))
        tx.create("gone", SCHEMA).append(rows(1))
        tx.drop("gone")
    assert contents(db) == {"a": {2: 0, 7: 0, 8: 0}, "b": {6: 0}}
    done = db.table("a").history(limit=1)[0].parameters["statements"]
    assert done.startswith("append a; overwrite a; delete a; overwrite a; drop b; create b")


@pytest.mark.parametrize("meanwhile", ["append", "delete"])
def test_a_table_that_a_concurrent_writer_changed_is_not_replaced(meanwhile: str) -> None:
    db = database()
    tx = db.transaction()
    before = tx.table("a").scan().to_arrow()
    tx.drop("a")
    tx.create("a", SCHEMA).append(before)
    other = db.table("a")
    other.append(rows(99)) if meanwhile == "append" else other.delete("id = 3")
    found = contents(db)
    with pytest.raises(ConflictError, match=f"'a' was changed by epoch .* \\({meanwhile}\\)"):
        tx.commit()
    assert contents(db) == found


def test_an_exception_or_a_rollback_leaves_everything_as_it_was() -> None:
    db = database()
    before = db._refresh()

    def fail() -> None:
        with db.transaction() as tx:
            tx.table("a").delete()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    with db.transaction() as other:
        other.table("a").delete()
        other.rollback()
    with db.transaction():
        pass
    assert db._refresh() == before


def test_a_statement_that_fails_leaves_the_transaction_as_it_was() -> None:
    db = database()
    with db.transaction() as tx:
        tx.table("a").delete("id = 1")
        with pytest.raises(InvalidInputError, match="'nope'"):
            tx.table("a").delete("nope = 1")
        with pytest.raises(AlreadyExistsError, match="'b'"):
            tx.create("b", SCHEMA)
        with pytest.raises(NotFoundError, match="'c'"):
            tx.drop("c")
        assert sorted(read(tx.table("a"))) == [0, *range(2, 10)]
    assert sorted(contents(db)["a"]) == [0, *range(2, 10)]


def test_a_conflict_in_one_table_changes_none() -> None:
    db = database()
    tx = db.transaction()
    tx.table("a").append(rows(60))
    tx.create("c", SCHEMA)
    tx.table("b").update({"v": 1}, "id = 100")
    db.table("b").delete("id = 100")
    with pytest.raises(ConflictError, match=r"'b'"):
        tx.commit()
    assert contents(db) == {
        "a": dict.fromkeys(range(10), 0),
        "b": dict.fromkeys(range(101, 105), 0),
    }


def test_disjoint_transactions_all_land() -> None:
    db = database()
    open_ones = [db.transaction() for _ in range(5)]
    for n, tx in enumerate(open_ones):
        tx.table("a").update({"v": n}, f"id = {n}")
        tx.table("b").delete(f"id = {100 + n}")
    for tx in open_ones:
        tx.commit()
    assert contents(db) == {"a": {i: i if i < 5 else 0 for i in range(10)}, "b": {}}


def test_the_same_key_is_inserted_by_one_of_two_transactions() -> None:
    db = database()
    first, second = db.transaction(), db.transaction()
    for tx in (first, second):
        tx.table("a").upsert(rows(70), on="id")
    first.commit()
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        second.commit()


def test_a_serializable_table_protects_what_a_transaction_read() -> None:
    db = database()
    db.table("b").alter(AlterProperties({"isolation": "serializable"}))

    def move(where: str) -> None:
        with db.transaction() as tx:
            if tx.table("b").scan(where=where).to_arrow().num_rows:
                tx.table("a").append(rows(80))
            db.table("b").delete("id = 104")
            db.table("b").append(rows(104))

    with pytest.raises(ConflictError, match="Rows of table 'b' that the statement reads"):
        move("id > 102")
    move("id > 1000")


@pytest.mark.parametrize("isolation", ["serializable", "snapshot"])
def test_a_serializable_table_that_was_read_is_not_dropped_meanwhile(isolation: str) -> None:
    db = database()
    db.table("b").alter(AlterProperties({"isolation": isolation}))
    tx = db.transaction()
    tx.table("a").append(tx.table("b").scan())
    db.drop_table("b")
    if isolation == "snapshot":
        assert tx.commit() == db.refresh().epoch
        return
    with pytest.raises(ConflictError, match="Rows of table 'b' that the statement reads"):
        tx.commit()


def test_an_invalid_isolation_level_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="'isolation' must be snapshot or serializable"):
        database().create_table("c", SCHEMA, properties={"isolation": "none"})
    with pytest.raises(InvalidInputError, match="not 'SERIALIZABLE'"):
        database().table("a").alter(AlterProperties({"isolation": "SERIALIZABLE"}))


USES: list[Callable[[ArrowTransaction, ArrowTransactionTable], Any]] = [
    lambda tx, table: tx.tables(),
    lambda tx, table: tx.table("a"),
    lambda tx, table: tx.create("z", SCHEMA),
    lambda tx, table: tx.drop("a"),
    lambda tx, table: tx.commit(),
    lambda tx, table: tx.rollback(),
    lambda tx, table: tx.__enter__(),
    lambda tx, table: table.append(rows(1)),
    lambda tx, table: table.delete(),
    lambda tx, table: table.scan(),
    lambda tx, table: table.schema,
]


@pytest.mark.parametrize("use", USES)
def test_a_transaction_that_ended_is_not_used_again(
    use: Callable[[ArrowTransaction, ArrowTransactionTable], Any],
) -> None:
    db = database()
    with db.transaction() as tx:
        table = tx.table("a")
        table.delete("id = 1")
    with pytest.raises(InvalidInputError, match=r"was committed as epoch 5; begin another"):
        use(tx, table)
    assert db.refresh().epoch == 5


def test_statements_that_find_nothing_make_no_epoch() -> None:
    db = database()
    head = db.refresh().epoch
    with db.transaction() as tx:
        tx.table("a").delete("id > 500")
        tx.table("b").overwrite(rows(), where="id > 500")
    assert db.refresh().epoch == head
    assert db.table("a").overwrite(rows(), where="id > 500") == head


def test_a_dropped_table_disappears_at_once_and_commit_settings_belong_to_the_whole() -> None:
    db = database()
    with db.transaction() as tx:
        b = tx.table("b")
        tx.drop("b")
        with pytest.raises(NotFoundError, match="dropped in this transaction"):
            b.scan()
        with pytest.raises(InvalidInputError, match="committed as a whole"):
            tx.table("a").delete(commit=CommitSettings())


def test_a_batch_of_a_transaction_lands_once() -> None:
    db = database()
    for _ in range(2):
        batch = CommitSettings(batch=("job", 1), metadata="note")
        with db.transaction(commit=batch) as tx:
            tx.table("a").append(rows(90))
            tx.table("b").append(rows(190))
    assert 90 in contents(db)["a"]
    assert db.table("a").history(1)[0].parameters["userMetadata"] == "note"
    with pytest.raises(ConflictError, match="expects epoch 1"):
        db.transaction(commit=CommitSettings(expect_epoch=1)).drop("a")


def test_a_table_that_a_transaction_dropped_is_named() -> None:
    with database().transaction() as tx:
        table = tx.table("a")
        tx.drop("a")
        with pytest.raises(NotFoundError, match="Table 'a' was dropped"):
            table.scan()


def test_a_transaction_that_does_nothing_still_expects_its_epoch() -> None:
    db = database()
    expected = CommitSettings(expect_epoch=db.refresh().epoch)
    with db.transaction(commit=expected) as tx:
        tx.table("a").delete("id = 99")
    tx = db.transaction(commit=expected)
    tx.table("a").delete("id = 99")
    db.table("b").append(rows(300))
    with pytest.raises(ConflictError, match="expects epoch"):
        tx.commit()


@pytest.mark.parametrize("order", ["ab", "ba"])
def test_a_batch_that_only_one_table_has_is_not_a_success(order: str) -> None:
    db = database()
    batch = CommitSettings(batch=("job", 7))
    db.table("b").append(rows(190), commit=batch)
    before = contents(db)

    def append_to_all() -> None:
        with db.transaction(commit=batch) as tx:
            for name in order:
                tx.table(name).append(rows(190))

    with pytest.raises(ConflictError, match="committed before: 'job' of table 'b'"):
        append_to_all()
    assert contents(db) == before


def test_transactions_work_on_disk(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    with db.transaction() as tx:
        tx.create("a", SCHEMA, sort_key=["id desc"]).append(rows(*range(100)))
        tx.table("a").delete("id >= 50")
    assert colonnade.open(tmp_path / "db" / "a").scan().to_arrow().num_rows == 50


STEP = st.one_of(
    st.tuples(st.just("append"), st.integers(1, 4)),
    st.tuples(st.just("delete"), st.sets(st.integers(0, 30), max_size=6)),
    st.tuples(st.just("update"), st.sets(st.integers(0, 30), max_size=6)),
    st.tuples(st.just("upsert"), st.sets(st.integers(0, 40), max_size=6)),
    st.tuples(st.just("overwrite"), st.integers(0, 2)),
)


@pytest.mark.slow
@settings(max_examples=examples(60), deadline=None)
@given(st.lists(STEP, max_size=10))
def test_any_statements_in_a_row_leave_what_a_dict_says(steps: list[tuple[str, Any]]) -> None:
    db = database()
    model = dict.fromkeys(range(10), 0)
    fresh = 50
    with db.transaction() as tx:
        a = tx.table("a")
        for number, (kind, what) in enumerate(steps, 1):
            if kind in ("append", "overwrite"):
                new = range(fresh, fresh + what)
                fresh += what
                getattr(a, kind)(rows(*new, v=number))
                model = ({} if kind == "overwrite" else model) | dict.fromkeys(new, number)
            elif kind == "upsert":
                a.upsert(rows(*what, v=number), on="id")
                model |= dict.fromkeys(what, number)
            else:
                where = colonnade.col("id").isin(what)
                a.delete(where) if kind == "delete" else a.update({"v": number}, where)
                hit = model.keys() & what
                changed = dict.fromkeys(hit, number) if kind == "update" else {}
                model = {i: v for i, v in model.items() if i not in hit} | changed
            assert read(a) == model
    assert contents(db)["a"] == model


def test_vectors_are_stored_once_at_the_end() -> None:
    store = MemoryStore()
    log = Log(store, pause=lambda _: None)
    db = ArrowDatabase(store, log, create_database(store, lone_table=False))
    table = db.create_table("t", pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": range(20_000)}))

    def vectors() -> int:
        return sum(info.name.endswith(".dv") for info in store.list(""))

    scattered = [f"id IN ({', '.join(map(str, range(first, 20_000, 13)))})" for first in range(3)]
    with db.transaction() as transaction:
        changed = transaction.table("t")
        changed.append(pa.table({"id": range(20_000)}))
        for where in scattered:
            changed.delete(where)
        assert vectors() == 0
        seen = changed.scan().to_arrow()
    assert vectors() == 2
    assert db.table("t").scan().to_arrow().equals(seen)


def test_a_copy_of_a_transaction_commits_what_it_did_itself() -> None:
    """As in a process that forked within the block: one must not pass for the other."""
    db = database()
    tx = db.transaction()
    other = object.__new__(type(tx))
    vars(other).update(vars(tx))
    other.table("a").append(rows(50))
    tx.table("b").append(rows(200))
    assert tx.commit() < other.commit()
    assert {50} <= contents(db)["a"].keys()
    assert {200} <= contents(db)["b"].keys()


@pytest.mark.parametrize("first", ["transaction", "delete"])
def test_rows_that_move_to_another_table_move_once(first: str) -> None:
    db = database()

    def move() -> ArrowTransaction:
        tx = db.transaction()
        taken = tx.table("a").scan(where="id = 3").to_arrow()
        tx.table("a").delete("id = 3")
        tx.table("b").append(taken)
        return tx

    tx, other = move(), move()
    other.commit() if first == "transaction" else db.table("a").delete("id = 3")
    with pytest.raises(ConflictError, match="Row 3 of RowSet 0 of table 'a'"):
        tx.commit()
    assert (3 in contents(db)["b"]) is (first == "transaction")


def test_transactions_that_only_delete_may_delete_the_same_rows() -> None:
    db = database()
    tx, other = db.transaction(), db.transaction()
    for each in (tx, other):
        each.table("a").delete("id < 5")
        each.table("b").delete("id = 100")
    assert tx.commit() < other.commit()
    assert contents(db)["a"].keys() == {*range(5, 10)}


TABLE_STEP = st.tuples(
    st.sampled_from(["create", "partitioned", "drop", "append", "delete", "update", "overwrite"]),
    st.sampled_from(["a", "b", "c", "d"]),
    st.integers(0, 12),
)


def take_step(tx: ArrowTransaction, kind: str, name: str, number: int) -> None:
    """Take a step with a table, if there is such a table, or none where the step creates it."""
    creates = kind in ("create", "partitioned")
    if (name in tx.tables()) is creates:
        return
    if creates:
        tx.create(name, SCHEMA, partition_by=["v"] if kind == "partitioned" else [])
    elif kind == "drop":
        tx.drop(name)
    elif kind == "update":
        tx.table(name).update({"v": number}, f"id <= {number}")
    elif kind == "delete":
        tx.table(name).delete(f"id IN ({number}, 1, 101)")
    else:
        getattr(tx.table(name), kind)(rows(*range(number, number + 3), v=number))


def described(log: Log, state: Snapshot) -> dict[str, Any]:
    """Return all that a state says of its tables, with deleted rows in place of vectors."""
    return {
        table.name: (
            replace(table, rowsets=RowSets()),
            [with_deleted_rows(log, table, rowset) for rowset in log.rowsets.read(table)],
        )
        for table in map(state.table, state.table_names().values())
    }


def with_deleted_rows(log: Log, table: TableState, rowset: LiveRowSet) -> tuple[Any, ...]:
    """Return what a state says of a RowSet."""
    vector, count = rowset.vector, rowset.entry.rows
    deleted = vector and read_deletion_vector(log.store, table.prefix, vector, count).rows
    replaced = rowset.replacements
    return replace(rowset, vector=None, replacements=()), replaced, deleted


@pytest.mark.parametrize("checkpoint_interval", [1, 64])
@settings(max_examples=examples(40), deadline=None)
@given(steps=st.lists(TABLE_STEP, max_size=12))
def test_a_transaction_sees_what_its_commit_leaves(
    checkpoint_interval: int, steps: list[tuple[str, str, int]]
) -> None:
    """It previews each statement by itself as a rule, and its commit folds all of them."""
    log = Log(MemoryStore(), checkpoint_interval=checkpoint_interval)
    tx = database(log).transaction()
    for step in steps:
        take_step(tx, *step)
    seen = tx._current
    tx.commit()
    left = log.reader.read_head()
    assert described(log, seen) == described(log, left)


def test_a_statement_previews_only_what_it_does_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    db = database()
    previewed: list[int] = []
    preview = Log.preview

    def counted(log: Log, change: Change, *rest: Any) -> Snapshot:
        previewed.append(len(change.ops) + len(change.rows))
        return preview(log, change, *rest)

    monkeypatch.setattr(Log, "preview", counted)
    with db.transaction() as tx:
        for number in range(20):
            tx.create(f"t{number}", SCHEMA).append(rows(number))
    assert previewed == [1] * 40
    previewed.clear()
    with db.transaction() as tx:
        for number in range(20):
            tx.table("t0").append(rows(*range(10 * number, 10 * number + 10)))
            tx.table("t0").update({"v": 9}, f"id = {10 * number + 3}")
            tx.table("t0").delete(f"id = {10 * number + 4}")
    assert previewed == [1, 2, 1] * 20


@pytest.mark.parametrize("static", [(), ("v",)], ids=["plain", "static"])
@pytest.mark.parametrize("lost_before", range(6))
def test_a_transaction_goes_on_where_a_checkpoint_of_its_base_is_lost(
    lost_before: int, static: tuple[str, ...]
) -> None:
    log = Log(MemoryStore(), checkpoint_interval=1, pause=lambda _: None)
    db = database(log)
    schema = SCHEMA.append(pa.field("day", pa.int64(), nullable=False))
    key = {"primary_key": ("id",), "static": static, "partition_key": ("day",) if static else ()}
    db.create_table("t", schema, properties={"onDuplicate": "merge"}, **key)  # type: ignore[arg-type]
    for day in range(3):
        ids = range(10 * day, 10 * day + 10)
        db.table("t").append(rows(*ids).append_column("day", [[day] * 10]))
    newest = Log(log.store, checkpoint_interval=1, pause=lambda _: None)
    tx = ArrowDatabase(newest.store, newest, newest.reader.read_head()).transaction()
    table = tx.table("t")
    steps: list[Callable[[], Any]] = [
        lambda: table.update({"v": 1}, "day = 0"),
        lambda: table.delete("id = 1"),
        lambda: table.append(pa.table({"id": [2, 50], "v": [3, 3], "day": [1, 1]}, schema)),
        lambda: table.delete("id = 50 OR id = 3"),
        lambda: table.update({"v": 4}, "day = 1"),
    ]
    for number, step in enumerate([*steps, tx.commit]):
        if number == lost_before:
            for each in [*log.store.list(CHECKPOINTS)]:
                log.store.delete(each.name)
        step()
    found = db.table("t").scan(["id", "day", "v"], order="key").to_arrow().to_pylist()
    assert [row["id"] for row in found] == [0, 2, *range(4, 30)]
    assert {(row["day"], row["v"]) for row in found} == {(0, 1), (1, 4), (2, 0)}
    assert db.verify(depth=4).is_sound


def test_a_transaction_reads_and_changes_static_values_with_its_rows() -> None:
    db = database()
    schema = pa.schema([("k", pa.int64()), ("n", pa.int64()), ("room", pa.string())])
    db.create_table("t", schema, primary_key=["k", "n"], static=["room"])
    db.table("t").append(pa.table({"k": [1, 2], "n": [1, 1], "room": ["a", "b"]}))
    before = db.refresh().epoch
    with db.transaction() as tx:
        table = tx.table("t")
        table.statics.upsert(pa.table({"k": [1, 9], "room": ["A", "z"]}))
        table.append(pa.table({"k": [9], "n": [1]}))
        assert table.scan(["k", "n"], "room = 'z'").to_arrow().to_pylist() == [{"k": 9, "n": 1}]
        table.statics.delete("room = 'b'")
        seen = sorted(tuple(each.values()) for each in table.scan().to_arrow().to_pylist())
        assert seen == [(1, 1, "A"), (2, 1, None), (9, 1, "z")]
        held = db.table("t").scan(["k", "room"]).to_arrow().to_pylist()
        assert sorted(each["room"] for each in held) == ["a", "b"]
        with pytest.raises(InvalidInputError, match="'a' has no static columns"):
            _ = tx.table("a").statics
    assert db.refresh().epoch == before + 1
    found = db.table("t").scan().to_arrow().to_pylist()
    assert sorted(tuple(each.values()) for each in found) == seen


def test_transactions_that_set_the_same_static_value_conflict() -> None:
    db = database()
    schema = pa.schema([("k", pa.int64()), ("n", pa.int64()), ("room", pa.string())])
    db.create_table("t", schema, primary_key=["k", "n"], static=["room"])
    first, second, other = db.transaction(), db.transaction(), db.transaction()
    for at, each in enumerate((first, second)):
        each.table("t").statics.upsert(pa.table({"k": [1], "room": [str(at)]}))
    other.table("t").statics.upsert(pa.table({"k": [2], "room": ["other"]}))
    first.commit()
    with pytest.raises(ConflictError):
        second.commit()
    other.commit()
    found = db.table("t").statics.scan().to_arrow().to_pylist()
    assert sorted(tuple(each.values()) for each in found) == [(1, "0"), (2, "other")]
