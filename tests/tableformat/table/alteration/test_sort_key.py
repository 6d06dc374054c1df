"""The sort key of a table changes: at once, in one epoch, and without touching a file."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import (
    AddColumn,
    AlterProperties,
    DropColumn,
    RenameColumn,
    SetSortKey,
    WidenColumn,
)
from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.sort_order import following_orders, order_of
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from tests.examples_of import examples
from tests.tableformat.table.alteration.points import rows

SCHEMA = pa.schema([("a", pa.int32()), ("b", pa.string()), ("x", pa.float64()), ("d", pa.date32())])
SCHEMA_BY_DAY = SCHEMA.set(3, pa.field("d", pa.int32()))
KEYS: tuple[tuple[str, ...], ...] = (
    (),
    ("a",),
    ("a desc", "b"),
    ("b", "a"),
    ("x desc",),
    ("d", "x"),
)


def in_database() -> ArrowDatabase:
    store = MemoryStore()
    log = Log(store, checkpoint_interval=3)
    return ArrowDatabase(store, log, create_database(store, lone_table=False))


def in_memory(sort_key: tuple[str, ...] = (), partition_by: tuple[str, ...] = ()) -> ArrowTable:
    database = in_database()
    return database.create_table("t", SCHEMA, sort_key=sort_key, partition_by=partition_by)


def some(order: random.Random, count: int = 30) -> pa.Table:
    return pa.Table.from_pylist(
        [
            {
                "a": order.choice((None, *range(-5, 6))),
                "b": order.choice((None, "", "a", "é", "zz")),
                "x": order.choice((None, -0.0, 0.0, float("nan"), float("inf"), 2.5)),
                "d": order.choice((None, 0, 9_000)),
            }
            for _ in range(count)
        ],
        SCHEMA_BY_DAY,
    ).cast(SCHEMA)


def many() -> pa.Table:
    """So many rows that an update of one column replaces it."""
    order, count = np.random.default_rng(1), 20_000
    columns = {
        "a": order.integers(0, 9, count),
        "b": np.where(order.random(count) < 0.1, "zz", "y"),
        "x": order.random(count),
        "d": order.integers(0, 20_000, count),
    }
    return (
        pa.table({name: pa.array(each) for name, each in columns.items()})
        .cast(SCHEMA_BY_DAY)
        .cast(SCHEMA)
    )


def content(table: ArrowTable) -> list[str]:
    return sorted(map(str, table.scan().to_arrow().to_pylist()))


def orders(table: ArrowTable) -> list[int]:
    return [each.entry.sort_order_id for each in table._log.rowsets.read(table._state)]


def compact(table: ArrowTable) -> None:
    table.optimize().option("min-rowsets", 2).executeCompaction()


def is_sound(table: ArrowTable) -> bool:
    """Whether every row is where its RowSet's order wants it."""
    database = ArrowDatabase(table._log.store, table._log, table._log.reader.read_head())
    return not database.verify(4).findings


def test_a_new_key_is_metadata_alone_and_new_rows_follow_it(table: ArrowTable) -> None:
    files = {info.name for info in table._log.store.list("")}
    table.alter(SetSortKey(("name desc", "id")))
    new = {info.name for info in table._log.store.list("")} - files
    assert all(name.startswith("_manifest/") for name in new)
    assert orders(table) == [0]
    table.append(rows(5, 4, 6))
    assert orders(table) == [0, 1]
    assert table.scan().to_arrow()["id"].to_pylist() == [1, 2, 6, 5, 4]
    assert table.history()[1].parameters["changes"] == "sort by name desc, id"


def test_the_same_key_makes_no_epoch(table: ArrowTable) -> None:
    epoch = table.epoch
    table.alter(SetSortKey(("ID asc",)))
    assert table.epoch == epoch


def test_an_earlier_key_keeps_its_number(table: ArrowTable) -> None:
    for key in (("name",), (), ("id",), ("name",)):
        table.alter(SetSortKey(key))
        table.append(rows(3))
    assert orders(table) == [0, 1, 2, 0, 1]
    assert len(table._state.sort_orders) == 3


@pytest.mark.parametrize(
    ("key", "error", "sentence"),
    [
        (("nope",), NotFoundError, "Column 'nope' does not exist"),
        (("point",), InvalidInputError, "Column 'point' of type .* has no order to sort by"),
        (("point.x",), NotFoundError, "Column 'point.x' does not exist"),
        (("id", "ID desc"), InvalidInputError, "Column 'id' is in the sort key twice"),
        ("id", InvalidInputError, "sort key"),
    ],
)
def test_a_key_that_no_table_can_have_leaves_the_table_as_it_was(
    table: ArrowTable, key: tuple[str, ...], error: type[ColonnadeError], sentence: str
) -> None:
    before = table._refresh()
    with pytest.raises(error, match=sentence):
        table.alter(SetSortKey(key))
    assert table._refresh() == before


def test_the_property_says_how_the_key_is_changed(table: ArrowTable) -> None:
    with pytest.raises(InvalidInputError, match="change it with SetSortKey"):
        table.alter(AlterProperties({"sortKey": "name"}))


def test_a_column_of_the_former_key_can_be_dropped_with_it(table: ArrowTable) -> None:
    table.alter(SetSortKey(("id", "name")))
    with pytest.raises(InvalidInputError, match="'name' cannot be dropped: .* sorted by it"):
        table.alter(DropColumn(("name",)))
    table.append(rows(8, 7))
    table.alter(SetSortKey(("id",)), DropColumn(("name",)))
    assert following_orders(table._state) == {0, 1}
    table.append(rows(9).drop_columns(["name"]))
    assert table.scan().to_arrow()["id"].to_pylist() == [1, 2, 7, 8, 9]
    compact(table)
    assert is_sound(table)


def test_a_key_may_have_a_column_that_the_same_call_adds(table: ArrowTable) -> None:
    new = SchemaField(name="new", type="int")
    table.alter(AddColumn(new, default=1), SetSortKey(("new", "id")))
    assert [f.column for f in table._state.sort_key] == [table._state.schema.field("new").id, 1]
    other = SchemaField(name="other", type="int")
    table.alter(AddColumn(other), SetSortKey(("other",)), DropColumn(("new",)))
    assert table._state.sort_orders[-2:] == ((), table._state.sort_key)
    compact(table)
    assert set(orders(table)) == {table._state.sort_order_id}
    assert is_sound(table)


def test_a_column_of_an_earlier_key_is_renamed_and_widened() -> None:
    table = in_memory(("a", "b"))
    table.append(some(random.Random(1)))
    table.alter(SetSortKey(("x",)))
    table.alter(RenameColumn(("b",), "c"), WidenColumn(("a",), "long"))
    assert is_sound(table)
    table.alter(SetSortKey(("a",)))
    assert following_orders(table._state) == {0, 2}
    assert order_of(table._state, 0)[0].column == table._state.schema.field("a").id
    table.append(some(random.Random(2)).rename_columns(["a", "c", "x", "d"]))
    table.delete("c = 'zz'")
    before = content(table)
    compact(table)
    assert content(table) == before
    assert is_sound(table)


@pytest.mark.parametrize("former", [(("a",), ("b",)), (("b",), ("a",))])
def test_a_column_of_any_order_is_not_replaced_in_place(
    former: tuple[tuple[str, ...], tuple[str, ...]],
) -> None:
    table = in_memory(former[0])
    table.append(many())
    table.alter(SetSortKey(former[1]))
    table.append(many())
    table.update({"a": "77"}, "b = 'y'")
    assert not any(each.replacements for each in table._log.rowsets.read(table._state))
    assert is_sound(table)
    found = table.scan(where="a = 77").to_arrow()
    assert found.num_rows == 2 * pc.sum(pc.equal(many()["b"], "y")).as_py()


def test_values_that_were_replaced_before_the_key_are_sorted_by_compaction() -> None:
    table = in_memory(("a",))
    table.append(many())
    table.update({"x": "NULL"}, "b = 'y'")
    assert any(each.replacements for each in table._log.rowsets.read(table._state))
    table.alter(SetSortKey(("x", "b desc")))
    before = content(table)
    assert is_sound(table)
    compact(table)
    assert content(table) == before
    assert is_sound(table)
    assert orders(table) == [1]


def test_values_of_a_column_of_the_new_key_are_refused_and_those_of_others_land() -> None:
    database = in_database()
    table = database.create_table("t", SCHEMA, sort_key=["a"])
    table.append(many())

    def set_while_key_becomes(column: str, key: str) -> None:
        with database.transaction() as transaction:
            transaction.table("t").update({column: "NULL"}, "b = 'y'")
            table.alter(SetSortKey((key,)))

    with pytest.raises(ConflictError, match="columns of table 't' changed"):
        set_while_key_becomes("x", "x")
    set_while_key_becomes("d", "b")
    table.refresh()
    found = table.scan(where="b = 'y'").to_arrow()
    assert (found["d"].null_count, found["x"].null_count) == (len(found), 0)
    assert any(each.replacements for each in table._log.rowsets.read(table._state))
    assert is_sound(table)


def test_rows_that_were_written_for_the_former_key_land_with_their_order() -> None:
    database = in_database()
    table, plain = database.create_table("t", SCHEMA, sort_key=["a"]), in_memory()
    order = random.Random(6)
    table.append(new := some(order))
    plain.append(new)
    with database.transaction() as transaction:
        for each in (transaction.table("t"), plain):
            each.append(new)
            each.update({"x": "1.5"}, "a > 2")
            each.delete("b = ''")
        table.alter(SetSortKey(("b desc",)))
    table.refresh()
    assert set(orders(table)) == {0}
    assert content(table) == content(plain)
    assert is_sound(table)
    compact(table)
    assert set(orders(table)) == {1}
    assert content(table) == content(plain)
    assert is_sound(table)


Steps = list[tuple[str, tuple[str, ...]]]
LAYOUTS: tuple[tuple[str, ...], ...] = ((), ("b",), ("bucket(2, a)",))
HISTORIES = (
    st.sampled_from(KEYS),
    st.sampled_from(LAYOUTS),
    st.integers(0, 10**6),
    st.lists(
        st.one_of(
            st.sampled_from(KEYS).map(lambda key: ("key", key)),
            st.sampled_from(("append", "delete", "update", "compact", "layout", "overwrite")).map(
                lambda name: (name, ())
            ),
        ),
        max_size=12,
    ),
)


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(*HISTORIES)
def test_any_keys_between_any_statements_keep_rows_and_orders(
    first: tuple[str, ...], layout: tuple[str, ...], seed: int, steps: Steps
) -> None:
    check_history(first, layout, seed, steps)


@pytest.mark.long
@settings(max_examples=examples(300), deadline=None)
@given(*HISTORIES)
def test_many_histories_of_keys_keep_rows_and_orders(
    first: tuple[str, ...], layout: tuple[str, ...], seed: int, steps: Steps
) -> None:
    check_history(first, layout, seed, steps)


def check_history(
    first: tuple[str, ...],
    layout: tuple[str, ...],
    seed: int,
    steps: Steps,
) -> None:
    order = random.Random(seed)
    table, plain = in_memory(first, layout), in_memory()
    statements: dict[str, Callable[[ArrowTable, pa.Table], object]] = {
        "append": lambda t, new: t.append(new),
        "delete": lambda t, _: t.delete("a = 3 OR b = 'é'"),
        "update": lambda t, _: t.update({"a": "4", "d": "NULL"}, "a < 2"),
        "overwrite": lambda t, new: t.overwrite(
            new.filter(pc.equal(new["b"], "zz")), where="b = 'zz'"
        ),
    }
    for name, key in (("append", ()), *steps, ("append", ())):
        if name == "key":
            table.alter(SetSortKey(key))
        elif name == "layout":
            table.partition_by(*order.choice(LAYOUTS))
        elif name == "compact":
            compact(table)
        else:
            new = some(order)
            for each in (table, plain):
                statements[name](each, new)
        assert content(table) == content(plain)
    assert is_sound(table)
    compact(table)
    assert content(table) == content(plain)
    assert is_sound(table)
    assert set(orders(table)) <= following_orders(table._state)


def test_columns_of_several_keys_widen_and_a_restore_makes_them_narrow_again() -> None:
    table = in_memory(("a", "b"))
    table.append(some(random.Random(7)))
    table.alter(SetSortKey(("a desc",)))
    table.append(some(random.Random(8)))
    narrow, before = table.epoch, content(table)
    table.alter(SetSortKey(("b",)), WidenColumn(("a",), "long"), SetSortKey(("a desc", "x")))
    table.append(some(random.Random(9)))
    assert table._state.sort_order_id == 2
    assert following_orders(table._state) == {2}
    assert is_sound(table)
    table.restore(epoch=narrow)
    assert content(table) == before
    assert table._state.sort_order_id == 1
    assert set(orders(table)) == {0, 1}
    compact(table)
    assert content(table) == before
    assert set(orders(table)) == {1}
    assert is_sound(table)


def test_a_dropped_table_comes_back_with_the_orders_of_its_rowsets() -> None:
    database = in_database()
    table = database.create_table("t", SCHEMA, sort_key=["d", "b"])
    for number, key in enumerate((("a",), ("x", "b"), ("b",))):
        table.append(some(random.Random(number)))
        table.alter(SetSortKey(key))
    table.alter(DropColumn(("d",)))
    epoch, before = table.epoch, content(table)
    database.drop_table("t")
    database.restore(epoch=epoch)
    again = database.table("t")
    assert content(again) == before
    assert [f.column for f in again._state.sort_key] == [2]
    known = [len(order_of(again._state, each)) for each in orders(again)]
    assert known == [0, 1, 2]
    assert is_sound(again)
    compact(again)
    assert content(again) == before
    assert is_sound(again)


def test_a_time_travel_reads_rows_of_any_order() -> None:
    table = in_memory(("a",))
    kept = {}
    for number, key in enumerate(KEYS):
        table.append(some(random.Random(number)))
        table.alter(SetSortKey(key))
        kept[table.epoch] = content(table)
    compact(table)
    for epoch, rows_then in kept.items():
        found = table.scan(epoch=epoch).to_arrow().to_pylist()
        assert sorted(map(str, found)) == rows_then
