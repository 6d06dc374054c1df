"""Each cell of the table of conflicts that has a range tombstone, as two changes on one base.

What readers see afterwards is compared with a model: the ids of the rows that are left.
Spec: docs/spec/conflicts.md#range-tombstones
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

import pytest
from pyroaring import BitMap

from colonnade.manifests.commit.change import Change, DeletedRows, TableRead
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.limits import LIMITS, Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.deletion_vector import read_deletion_vector
from colonnade.manifests.model.entries import (
    ColumnReplacement,
    RowSetEntry,
    SortField,
)
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import (
    AddCheck,
    AddRangeTombstone,
    AddRowSet,
    AlterSchema,
    Compaction,
    CompactionInput,
    CompactionOutput,
    CreateTable,
    DropRowSet,
    DropTable,
    ForgetRangeTombstones,
    Operation,
    ReplaceColumn,
    Restore,
    RowKind,
    SetComment,
    SetLifetimes,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
)
from colonnade.manifests.model.regions import Interval
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import ORDERS, change, database, entry, holds, live, make_log, replay

ID = SchemaField(id=1, name="id", type="long", nullable=False)
X = SchemaField(id=2, name="x", type="double")
KEY = SchemaField(id=3, name="key", type="long", nullable=False)
SCHEMA = TableSchema(fields=(ID, X, KEY))
GONE = frozenset((3, 4, 5))
"""The ids of the rows that the tombstone deletes; RowSet 0 has 0 to 9, RowSet 1 has 100 to 109."""

NONE: frozenset[int] = frozenset()
Make = Callable[[Log, Snapshot], Change]


def opened(isolation: str | None = None, limits: Limits = LIMITS) -> tuple[Log, Snapshot]:
    store = MemoryStore()
    log = make_log(store, limits=limits)
    create = CreateTable(
        table=ORDERS,
        name="orders",
        table_schema=SCHEMA,
        next_column_id=4,
        sort_key=(SortField(column=1),),
        properties={} if isolation is None else {"isolation": isolation},
    )
    state = log.commit(change(create), database(store))
    return log, log.commit(change(*added(0), *added(100)), state)


def rows_from(low: int, count: int = 10) -> RowSetEntry:
    made = entry(count, low)
    return made.model_copy(update={"statistics": {1: made.statistics[1]}})


def added(*lows: int) -> tuple[Operation, ...]:
    return tuple(AddRowSet(table=ORDERS, rowset=rows_from(low)) for low in lows)


def interval(low: int, high: int) -> tuple[Interval, ...]:
    return (Interval(column=1, low=f"i:{low}", high=f"i:{high}"),)


def visible_ids(log: Log, state: Snapshot | None = None) -> set[int]:
    """The ids of the rows that a reader shows."""
    table = (state or log.reader.read_head()).table("orders")
    found: list[int] = []
    view = log.rowsets.view(table, None, None)
    for rowset in view.rowsets:
        stated = rowset.entry.statistics[1]
        assert stated.min is not None
        first, vector = int(stated.min[2:]), rowset.vector
        deleted = BitMap()
        if vector is not None:
            rows = read_deletion_vector(log.store, table.prefix, vector, rowset.entry.rows)
            deleted |= rows.rows
        ids = [first + at for at in range(rowset.entry.rows) if at not in deleted]
        for region in view.hidden_in(rowset):
            [side] = region.intervals
            low, high = side.bounds(ID)
            ids = [each for each in ids if not int(low or 0) <= each <= int(high or 0)]
        found += ids
    assert len(found) == len(set(found))
    return set(found)


def at(log: Log, base: Snapshot, number: int) -> LiveRowSet:
    return log.rowsets.find(base.table("orders"), [number])[number]


# --- changes, by name


def tombstone(*ops: Operation, low: int = 3, high: int = 5) -> Make:
    op = AddRangeTombstone(table=ORDERS, regions=(interval(low, high),))
    return lambda log, base: change(op, *ops, name="delete")


def append(log: Log, base: Snapshot) -> Change:
    return change(*added(1000), name="append")


def append_inside(log: Log, base: Snapshot) -> Change:
    ops = (AddRowSet(table=ORDERS, rowset=rows_from(4, 1)),)
    return change(*ops, name="append")


def removing(kind: RowKind, rowset: int, rows: Iterable[int], read: int | None = None) -> Make:
    """A statement that deletes rows, or moves them to ids from 2,000 on. `read`: the id it asks."""

    def make(log: Log, base: Snapshot) -> Change:
        places = BitMap(rows)
        moved = (AddRowSet(table=ORDERS, rowset=rows_from(2000, len(places))),)
        reads = () if read is None else (TableRead(ORDERS, holds(read)),)
        gone = DeletedRows(ORDERS, at(log, base, rowset), kind, places)
        ops = () if kind == "delete" else moved
        return replace(change(*ops, name=kind), rows=(gone,), reads=reads)

    return make


def replacing(rowset: int, read: int | None = None) -> Make:
    def make(log: Log, base: Snapshot) -> Change:
        new = rows_from(0)
        values = ColumnReplacement(
            columns=(2,), object=new.object, place="packed", bytes=7, footer=new.footer
        )
        op = ReplaceColumn(table=ORDERS, rowset=rowset, replacement=values)
        reads = () if read is None else (TableRead(ORDERS, holds(read)),)
        return replace(change(op, name="update"), reads=reads)

    return make


def overwriting(rowset: int, read: int) -> Make:
    def make(log: Log, base: Snapshot) -> Change:
        drop = DropRowSet(table=ORDERS, rowsets=((rowset, rowset),))
        reads = (TableRead(ORDERS, holds(read), overwrites=True),)
        return replace(change(drop, *added(3000), name="overwrite"), reads=reads)

    return make


def overwriting_all(log: Log, base: Snapshot) -> Change:
    drop = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    return change(drop, *added(3000), name="overwrite")


def compacting(*numbers: int) -> Make:
    """A compaction that knows nothing of range tombstones; ids stay in the order of the inputs."""

    def make(log: Log, base: Snapshot) -> Change:
        inputs, outputs = [], []
        for number in numbers:
            found = at(log, base, number)
            vector = found.vector
            inputs.append(CompactionInput(rowset=number, rows=found.entry.rows, vector=vector))
            low = int(str(found.entry.statistics[1].min)[2:])
            outputs.append(CompactionOutput(rowset=rows_from(low, found.row_count)))
        return change(
            Compaction(table=ORDERS, inputs=tuple(inputs), outputs=tuple(outputs)), name="compact"
        )

    return make


def operation(*ops: Operation, **more: object) -> Make:
    return lambda log, base: replace(change(*ops, name="alter"), **more)  # type: ignore[arg-type]


def restoring(log: Log, base: Snapshot) -> Change:
    drop = DropRowSet(table=ORDERS, rowsets=((0, 1),))
    back = Restore(table=ORDERS, epoch=1)
    reads = (TableRead(ORDERS, overwrites=True),)
    return replace(change(drop, back, name="restore"), reads=reads)


COLUMN = TableSchema(fields=(*SCHEMA.fields, SchemaField(id=4, name="y", type="long")))
NULLABLE = TableSchema(
    fields=(SCHEMA.fields[0].model_copy(update={"nullable": True}), *SCHEMA.fields[1:])
)
CHECK = CheckConstraint(name="positive", sql="id >= 0", columns=(1,))
EVERY = {
    "append": append,
    "append inside": append_inside,
    "delete": removing("delete", 0, [1, 4]),
    "update outside": removing("update", 1, [0, 1]),
    "update inside": removing("update", 0, [4], read=4),
    "merge inside": removing("merge", 0, [0], read=4),
    "update by a read outside": removing("update", 0, [9], read=9),
    "update without a read": removing("update", 0, [9]),
    "replace inside": replacing(0, read=4),
    "replace by a read outside": replacing(0, read=9),
    "replace without a read": replacing(0),
    "replace outside": replacing(1),
    "overwrite inside": overwriting(0, read=4),
    "overwrite outside": overwriting(1, read=105),
    "overwrite all": overwriting_all,
    "compaction": compacting(0, 1),
    "tombstone": tombstone(low=5, high=8),
    "drop": operation(DropTable(table=ORDERS)),
    "add a column": operation(
        AlterSchema(table=ORDERS, table_schema=COLUMN, schema_id=1, next_column_id=5)
    ),
    "allow NULL in the column of the range": operation(
        AlterSchema(table=ORDERS, table_schema=NULLABLE, schema_id=1, next_column_id=4)
    ),
    "set a key": operation(SetPrimaryKey(table=ORDERS, columns=(3,))),
    "restore": restoring,
    "add a check": operation(AddCheck(table=ORDERS, constraint=CHECK)),
    "set a sort order": operation(
        SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=3),))
    ),
    "set lifetimes": operation(
        SetLifetimes(table=ORDERS, lifetimes=Lifetimes(rows_ms=9, since_ms=0))
    ),
    "set properties": operation(SetProperties(table=ORDERS, set={"a": "b"})),
    "set a comment": operation(SetComment(table=ORDERS, comment="c")),
}
BASE = frozenset((*range(10), *range(100, 110)))
MOVED = frozenset((2000,))

REFUSED_AFTER_TOMBSTONE = {
    "update inside",
    "merge inside",
    "update without a read",
    "replace inside",
    "replace without a read",
    "overwrite inside",
    "overwrite all",
    "allow NULL in the column of the range",
    "set a key",
    "restore",
}
REFUSES_TOMBSTONE = {
    "drop",
    "allow NULL in the column of the range",
    "set a key",
    "restore",
}

LEFT: dict[str, frozenset[int]] = {
    "append": BASE - GONE | {*range(1000, 1010)},
    "delete": BASE - GONE - {1, 4},
    "update outside": BASE - GONE - {100, 101} | {2000, 2001},
    "update by a read outside": BASE - GONE - {9} | MOVED,
    "overwrite outside": frozenset({*range(10)} - GONE | {*range(3000, 3010)}),
    "tombstone": BASE - {*range(3, 9)},
}
"""What is left after a tombstone and another change, in either order. Others leave what is here."""


@pytest.mark.parametrize("name", EVERY)
def test_a_change_after_a_tombstone_of_a_concurrent_writer(name: str) -> None:
    log, base = opened()
    log.commit(tombstone()(log, base), base)
    mine = EVERY[name](log, base)
    if name in REFUSED_AFTER_TOMBSTONE:
        with pytest.raises(ConflictError, match="orders"):
            log.commit(mine, base)
        assert visible_ids(log) == BASE - GONE
        return
    state = log.commit(mine, base)
    if name == "drop":
        assert state.find_table("orders") is None
        return
    # What comes after the tombstone stays, also inside its range.
    expected = BASE - GONE | {4} if name == "append inside" else LEFT.get(name, BASE - GONE)
    assert visible_ids(log) == visible_ids(log, state) == expected
    assert visible_ids(log, replay(log.store)) == expected
    if name == "compaction":
        assert {each.clean_epoch for each in live(log, state.table("orders"))} == {base.epoch}


@pytest.mark.parametrize("name", EVERY)
def test_a_tombstone_after_a_change_of_a_concurrent_writer(name: str) -> None:
    log, base = opened()
    theirs = log.commit(EVERY[name](log, base), base)
    mine = tombstone()(log, base)
    if name in REFUSES_TOMBSTONE:
        with pytest.raises(ConflictError, match="orders"):
            log.commit(mine, base)
        assert log.reader.read_head() == theirs
        return
    left = {
        "append inside": BASE - GONE,  # the same row again, which the tombstone deletes, too
        "update inside": BASE - GONE | MOVED,
        "merge inside": BASE - GONE - {0} | MOVED,
        "update without a read": BASE - GONE - {9} | MOVED,
        "overwrite inside": frozenset((*range(100, 110), *range(3000, 3010))),
        "overwrite all": frozenset(range(3000, 3010)),
    }
    if name == "append inside":
        log.commit(removing("delete", 0, [4])(log, log.reader.read_head()), log.reader.read_head())
    log.commit(mine, base)
    assert visible_ids(log) == {**LEFT, **left}.get(name, BASE - GONE)


@pytest.mark.parametrize("isolation", [None, "snapshot", "serializable"])
@pytest.mark.parametrize(("asked", "meets"), [(4, True), (9, False), (None, True)])
def test_a_serializable_statement_conflicts_with_a_range_that_it_may_have_read(
    isolation: str | None, asked: int | None, meets: bool
) -> None:
    log, base = opened(isolation)
    log.commit(tombstone()(log, base), base)
    read = TableRead(ORDERS, None if asked is None else holds(asked))
    mine = replace(append(log, base), reads=(read,))
    if isolation == "serializable" and meets:
        with pytest.raises(ConflictError, match=r"A range of table 'orders' .* was deleted"):
            log.commit(mine, base)
    else:
        log.commit(mine, base)


@pytest.mark.parametrize(
    ("ends", "asked", "meets"),
    [
        ({"low": "i:50", "low_open": True}, 50, False),
        ({"low": "i:50", "low_open": True}, 51, True),
        ({"low": "i:50"}, 49, False),
        ({"low": "i:50"}, 2**63 - 1, True),
        ({"high": "i:50", "high_open": True}, 50, False),
        ({"high": "i:50", "high_open": True}, -(2**63), True),
        ({"low": "i:-1", "low_open": True, "high": "i:5"}, -1, False),
        ({}, 9, True),
    ],
)
def test_a_statement_conflicts_with_a_half_open_range_if_it_may_have_read_a_row_of_it(
    ends: dict[str, object], asked: int, meets: bool
) -> None:
    """The times before one moment are deleted beside a statement on the times after it."""
    log, base = opened("serializable")
    region = (Interval.model_validate({"column": 1, **ends}),)
    log.commit(change(AddRangeTombstone(table=ORDERS, regions=(region,)), name="delete"), base)
    mine = replace(append(log, base), reads=(TableRead(ORDERS, holds(asked)),))
    if meets:
        with pytest.raises(ConflictError):
            log.commit(mine, base)
    else:
        log.commit(mine, base)


def test_a_compaction_that_two_tombstones_overtake_has_met_neither() -> None:
    log, base = opened()
    compaction = compacting(0, 1)(log, base)
    for low in (0, 100):
        log.commit(tombstone(low=low, high=low + 2)(log, base), log.reader.read_head())
    state = log.commit(compaction, base)
    assert visible_ids(log) == {*range(3, 10), *range(103, 110)}
    assert {each.clean_epoch for each in live(log, state.table("orders"))} == {base.epoch}


def test_a_compaction_that_no_tombstone_overtakes_says_nothing_of_them() -> None:
    log, base = opened()
    compaction = compacting(0, 1)(log, base)
    log.commit(append(log, base), base)
    state = log.commit(compaction, base)
    assert visible_ids(log) == BASE | {*range(1000, 1010)}
    ids = [each.id for each in live(log, state.table("orders"))]
    found = log.rowsets.find(state.table("orders"), ids).values()
    assert all(each.clean_epoch == each.epoch for each in found)


def forgetting(log: Log, base: Snapshot) -> Change:
    """Names the rows of all tombstones, and forgets these."""
    table = base.table("orders")
    rows, view = [], log.rowsets.view(table, None, None)
    for rowset in view.rowsets:
        first = int(str(rowset.entry.statistics[1].min)[2:])
        inside = BitMap(each - first for each in GONE if 0 <= each - first < rowset.entry.rows)
        if inside and not view.is_counted(rowset):
            stored = at(log, base, rowset.id)
            rows.append(DeletedRows(ORDERS, stored, "delete", inside))
    op = ForgetRangeTombstones(table=ORDERS, through=table.range_tombstones[-1].epoch)
    return replace(change(op, name="clean"), rows=tuple(rows))


@pytest.mark.parametrize("first", ["compaction", "clean"])
@pytest.mark.parametrize("overtaken", [True, False])
def test_rows_stay_deleted_when_a_compaction_and_a_forgotten_tombstone_meet(
    first: str, overtaken: bool
) -> None:
    """The compaction was planned before the tombstone, or after it; it keeps the rows it has."""
    log, base = opened()
    compaction = compacting(0, 1)(log, base) if overtaken else None
    tombstoned = log.commit(tombstone()(log, base), base)
    if compaction is None:
        # Its outputs say what its inputs have met, as planners of compactions do.
        made = compacting(0, 1)(log, tombstoned)
        compaction = replace(made, ops=(_dated(made.ops[0], base.epoch),))
    clean = forgetting(log, tombstoned)
    changes = {
        "compaction": (compaction, base if overtaken else tombstoned),
        "clean": (clean, tombstoned),
    }
    order = ("compaction", "clean") if first == "compaction" else ("clean", "compaction")
    for name in order:
        log.commit(*changes[name])
        assert visible_ids(log) == BASE - GONE
    assert log.reader.read_head().table("orders").range_tombstones == ()
    assert visible_ids(log, replay(log.store)) == BASE - GONE


def _dated(op: Operation, epoch: int) -> Operation:
    assert isinstance(op, Compaction)
    outputs = tuple(
        each.model_copy(update={"rowset": each.rowset.model_copy(update={"clean_epoch": epoch})})
        for each in op.outputs
    )
    return op.model_copy(update={"outputs": outputs})


@pytest.mark.parametrize("name", EVERY)
def test_a_tombstone_is_forgotten_beside_every_other_change(name: str) -> None:
    log, base = opened()
    tombstoned = log.commit(tombstone()(log, base), base)
    other = EVERY[name](log, tombstoned)
    clean = forgetting(log, tombstoned)
    if name in ("overwrite all", "restore"):
        with pytest.raises(ConflictError):
            _both(log, tombstoned, clean, other)
        return
    if name in ("update inside", "merge inside", "replace inside") or name.startswith("over"):
        return  # such a statement does not exist: it has seen no row of the range
    _both(log, tombstoned, clean, other)
    if name != "drop":
        left = {
            "append inside": BASE - GONE | {4},
            "update without a read": LEFT["update by a read outside"],
        }
        assert visible_ids(log) == {**LEFT, **left}.get(name, BASE - GONE)


def _both(log: Log, base: Snapshot, one: Change, other: Change) -> None:
    log.commit(one, base)
    log.commit(other, base)


@pytest.mark.parametrize("listed", [1, 1000])
def test_rowsets_of_segments_and_checkpoints_meet_the_same_tombstones(listed: int) -> None:
    log, state = opened(limits=Limits(listed_rowsets=listed))
    state = log.commit(change(*added(*range(200, 260, 10)), name="append"), state)
    state = log.commit(tombstone(low=205, high=224)(log, state), state)
    base = state
    state = log.commit(change(*added(210, 300), name="append"), state)
    expected = {*BASE, *range(200, 205), *range(225, 260), *range(210, 220), *range(300, 310)}
    assert visible_ids(log) == expected
    log.try_checkpoint(state)
    again = make_log(log.store)
    assert visible_ids(again, again.reader.read_head()) == expected
    assert (
        again.reader.read_head().table("orders").range_tombstones
        == base.table("orders").range_tombstones
    )
    late = compacting(0, 1)(again, base)
    again.commit(tombstone(low=0, high=101)(again, state), again.reader.read_head())
    again.commit(late, base)
    again.try_checkpoint(again.reader.read_head())
    left = expected - {*range(10), 100, 101}
    assert visible_ids(again) == visible_ids(make_log(log.store)) == left
