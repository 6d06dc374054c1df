"""No two live rows share a primary key, however rows are written, and beside any writer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.keys import parts
from colonnade.tableformat.table.transaction.transaction import ArrowTransaction
from colonnade.tableformat.write.settings import OnDuplicate
from tests.examples_of import examples
from tests.faults import FaultyStore
from tests.tableformat.statements.tables import another, made

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("v", pa.int64())])
IGNORE = WriteSettings(on_duplicate="ignore")
Key = tuple[int, str]


def batch(*rows: tuple[int, str, int]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [(), (), ()]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)


def keyed(store: Any = None, **design: Any) -> ArrowTable:
    """The keys (1, x), (1, y) and (2, x) in two RowSets."""
    table = made(store, SCHEMA, ["a", "b"], **design)
    table.append(batch((1, "x", 1), (2, "x", 3)))
    table.append(batch((1, "y", 2)))
    return table


def content(table: ArrowTable) -> dict[Key, int]:
    """The rows of the newest state, whose keys must differ."""
    table.refresh()
    rows = table.scan().to_arrow().to_pylist()
    found = {(row["a"], row["b"]): row["v"] for row in rows}
    assert len(found) == len(rows)
    return found


def transaction(table: ArrowTable) -> ArrowTransaction:
    table.refresh()
    return ArrowTransaction(table._log, table._snapshot)


def in_transaction(*steps: Callable[[Any], Any]) -> Callable[[ArrowTable], Any]:
    def run(table: ArrowTable) -> None:
        with transaction(table) as tx:
            for step in steps:
                step(tx.table("t"))

    return run


TAKEN: dict[str, Callable[[ArrowTable], Any]] = {
    "append": lambda t: t.append(batch((3, "z", 0), (1, "y", 0))),
    "append twice": lambda t: t.append(batch((3, "z", 0), (3, "z", 1))),
    "overwrite": lambda t: t.overwrite(batch((1, "x", 0), (1, "x", 1))),
    "overwrite where": lambda t: t.overwrite(batch((1, "y", 0)), where="v < 2 or v = 0"),
    "overwrite partitions": lambda t: t.overwrite_partitions(batch((3, "z", 0), (3, "z", 0))),
    "update": lambda t: t.update({"b": "'y'"}, "a = 1 and b = 'x'"),
    "update all": lambda t: t.update({"a": 7, "b": "'z'"}),
    "upsert by another column": lambda t: t.upsert(batch((1, "y", 3)), on="v"),
    "transaction": in_transaction(lambda t: t.append(batch((1, "x", 0)))),
    "two statements": in_transaction(
        lambda t: t.append(batch((3, "z", 0))), lambda t: t.append(batch((3, "z", 1)))
    ),
    "update in a transaction": in_transaction(
        lambda t: t.append(batch((3, "z", 0))), lambda t: t.update({"b": "'y'"}, "a = 1")
    ),
}


@pytest.mark.parametrize("road", TAKEN)
def test_a_key_that_is_taken_is_refused_and_nothing_changes(road: str) -> None:
    table = keyed()
    before, epoch = content(table), table.epoch
    with pytest.raises(InvalidInputError, match=r"primary key \(a, b\) of table 't'.* a = \d, b"):
        TAKEN[road](table)
    assert content(table) == before
    assert table.epoch == epoch


FREE: dict[str, tuple[Callable[[ArrowTable], Any], dict[Key, int]]] = {
    "append after a delete": (
        lambda t: (t.delete("a = 2"), t.append(batch((2, "x", 9)))),
        {(1, "x"): 1, (1, "y"): 2, (2, "x"): 9},
    ),
    "overwrite": (lambda t: t.overwrite(batch((1, "x", 9))), {(1, "x"): 9}),
    "overwrite where": (
        lambda t: t.overwrite(batch((1, "x", 9), (1, "z", 9)), where="a = 1"),
        {(1, "x"): 9, (1, "z"): 9, (2, "x"): 3},
    ),
    "exchanged keys": (
        lambda t: t.upsert(batch((1, "y", 1), (1, "x", 2)), on="v"),
        {(1, "y"): 1, (1, "x"): 2, (2, "x"): 3},
    ),
    "update to its own key": (
        lambda t: t.update({"a": 2}, "a = 2"),
        {(1, "x"): 1, (1, "y"): 2, (2, "x"): 3},
    ),
    "update of another column": (
        lambda t: t.update({"v": 0}, "a = 2"),
        {(1, "x"): 1, (1, "y"): 2, (2, "x"): 0},
    ),
    "transaction": (
        in_transaction(
            lambda t: t.delete("a = 2"),
            lambda t: t.append(batch((2, "x", 8), (4, "x", 8))),
            lambda t: t.delete("a = 4"),
            lambda t: t.append(batch((4, "x", 9))),
        ),
        {(1, "x"): 1, (1, "y"): 2, (2, "x"): 8, (4, "x"): 9},
    ),
}


@pytest.mark.parametrize("road", FREE)
def test_a_key_that_the_statement_frees_can_be_used_again(road: str) -> None:
    table = keyed()
    run, expected = FREE[road]
    run(table)
    assert content(table) == expected


def test_ignored_rows_are_left_out_and_the_first_of_equal_keys_stays() -> None:
    table = keyed()
    epoch = table.append(batch((3, "z", 7), (1, "x", 7), (3, "z", 8), (4, "z", 9)), settings=IGNORE)
    assert epoch == table.epoch == 4
    expected = {(1, "x"): 1, (1, "y"): 2, (2, "x"): 3, (3, "z"): 7, (4, "z"): 9}
    assert content(table) == expected
    assert next(iter(table.history())).metrics["rows_inserted"] == 2
    assert table.append(batch((1, "x", 0)), settings=IGNORE) == 4
    assert table.overwrite(batch((1, "q", 0), (1, "q", 1)), settings=IGNORE) == 5
    assert content(table) == {(1, "q"): 0}


def test_the_property_decides_where_a_write_does_not_say_otherwise() -> None:
    table = keyed(properties={"onDuplicate": "ignore"})
    table.append(batch((1, "x", 9), (5, "x", 5)))
    assert content(table)[(5, "x")] == 5
    with pytest.raises(InvalidInputError, match="a row of the table has"):
        table.append(batch((1, "x", 9)), settings=WriteSettings(on_duplicate="error"))
    with pytest.raises(InvalidInputError, match="a row of the table has"):
        table.update({"b": "'y'"}, "a = 1 and b = 'x'")


def test_ignored_rows_stay_out_in_a_transaction() -> None:
    table = keyed()
    with transaction(table) as tx:
        own = tx.table("t")
        counts = own.append(batch((1, "x", 9), (5, "x", 5), (6, "x", 6)), settings=IGNORE)
        assert counts.rows_inserted == 2
        own.append(batch((5, "x", 9), (7, "x", 7)), settings=IGNORE)
        assert own.append(batch((7, "x", 9)), settings=IGNORE).rows_inserted == 0
        own.delete("a = 6")
    assert content(table) == {(1, "x"): 1, (1, "y"): 2, (2, "x"): 3, (5, "x"): 5, (7, "x"): 7}


@pytest.mark.parametrize("compacted", [False, True])
@pytest.mark.parametrize("policy", ["error", "ignore"])
def test_a_writer_with_an_old_state_is_compared_at_its_slot(
    policy: OnDuplicate, compacted: bool
) -> None:
    store = FaultyStore(MemoryStore())
    table = keyed(store)
    late = another(table)
    table.append(batch((3, "z", 1)))
    if compacted:
        table.optimize()
    before = content(table)
    chosen = WriteSettings(on_duplicate=policy)
    rows = batch((3, "z", 2), (8, "z", 8))
    if policy == "error":
        with pytest.raises(InvalidInputError, match="a = 3, b = 'z'"):
            late.append(rows, settings=chosen)
        assert content(table) == before
    else:
        late.append(rows, settings=chosen)
        assert content(table) == {**before, (8, "z"): 8}
    late.append(batch((9, "z", 9)))
    assert content(table)[(9, "z")] == 9


def test_an_update_is_compared_at_its_slot() -> None:
    table = keyed()
    late = another(table)
    with transaction(late) as tx:
        tx.table("t").update({"b": "'z'"}, "a = 2")
        table.append(batch((9, "z", 1)))
    assert content(table)[(2, "z")] == 3
    tx = transaction(late)
    tx.table("t").append(batch((10, "z", 1)))
    table.append(batch((10, "z", 2)))
    with pytest.raises(ConflictError, match="Keys that the statement inserts"):
        tx.commit()
    assert content(table)[(10, "z")] == 2


def test_a_key_that_a_concurrent_writer_has_deleted_can_be_used_again() -> None:
    table = keyed()
    another(table).delete("a = 2")
    table.append(batch((2, "x", 9)))
    assert content(table) == {(1, "x"): 1, (1, "y"): 2, (2, "x"): 9}


Step = tuple[str, int, list[tuple[int, str, int]], OnDuplicate]
ROWS = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("xyz"), st.integers(0, 9)), max_size=5)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["append", "overwrite", "where", "update", "delete", "optimize", "tx"]),
        st.integers(0, 1),
        ROWS,
        st.sampled_from(get_args(OnDuplicate)[:2]),
    ),
    max_size=8,
)


def insert(model: dict[Key, int], rows: list[tuple[int, str, int]], policy: str) -> bool:
    """Insert rows into a model, if it allows them."""
    added: dict[Key, int] = {}
    for a, b, v in rows:
        if (a, b) not in model and (a, b) not in added:
            added[a, b] = v
        elif policy == "error":
            return False
    model |= added
    return True


def expected_after(model: dict[Key, int], step: Step) -> dict[Key, int] | None:
    kind, _, rows, policy = step
    after = dict(model)
    if kind in ("append", "tx"):
        return after if insert(after, rows, policy) else None
    if kind == "overwrite":
        after = {}
        return after if insert(after, rows, policy) else None
    if kind == "where":
        after = {key: v for key, v in after.items() if key[0] != 1}
        return after if insert(after, [(1, b, v) for _, b, v in rows], policy) else None
    if kind == "update":
        moved = {("y" if a == 2 else b): v for (a, b), v in model.items() if a == 2}
        hit = [(a, b) for a, b in model if a == 2]
        if len(hit) > 1:
            return None
        after = {key: v for key, v in after.items() if key[0] != 2}
        return after | {(2, b): v for b, v in moved.items()}
    if kind == "delete":
        return {key: v for key, v in after.items() if key[0] != 3}
    return after


def run_step(table: ArrowTable, step: Step) -> None:
    kind, _, rows, policy = step
    chosen = WriteSettings(on_duplicate=policy)
    match kind:
        case "append":
            table.append(batch(*rows), settings=chosen)
        case "tx":
            with transaction(table) as tx:
                tx.table("t").append(batch(*rows[:2]), settings=chosen)
                tx.table("t").append(batch(*rows[2:]), settings=chosen)
        case "overwrite":
            table.overwrite(batch(*rows), settings=chosen)
        case "where":
            given = [(1, b, v) for _, b, v in rows]
            table.overwrite(batch(*given), where="a = 1", settings=chosen)
        case "update":
            table.update({"b": "'y'"}, "a = 2")
        case "delete":
            table.delete("a = 3")
        case "optimize":
            table.optimize()


@pytest.mark.slow
@pytest.mark.parametrize("part_rows", [parts.PART_ROWS, 2], ids=["one part", "many parts"])
@settings(max_examples=examples(40), deadline=None)
@given(steps=STEPS)
def test_two_writers_agree_with_a_dictionary(part_rows: int, steps: list[Step]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART_ROWS", part_rows)
        first = made(schema=SCHEMA, key=["a", "b"])
        writers, model = (first, another(first)), dict[Key, int]()
        for step in steps:
            table, expected = writers[step[1]], expected_after(model, step)
            if step[3] == "ignore" or (step[0] == "where" and not step[2]):
                # A row that loses against an old state may stay out. An overwrite without rows
                # that finds none in the old state has nothing to commit.
                table.refresh()
            try:
                run_step(table, step)
            except ConflictError:
                assert step[0] in ("overwrite", "where")
                table.refresh()
                continue
            except InvalidInputError:
                assert expected is None
            else:
                assert expected is not None
                model = expected
            assert content(another(table)) == model
