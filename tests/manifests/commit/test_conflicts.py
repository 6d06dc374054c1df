"""Which changes may follow which: the table of `conflicts.py`, tried on a real log."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.conflicts import check_epoch
from colonnade.manifests.errors import (
    ConflictError,
    InvalidInputError,
    UnsupportedFormatError,
)
from colonnade.manifests.model.constraints import CheckConstraint
from colonnade.manifests.model.entries import PartitionField, SortField
from colonnade.manifests.model.lifetimes import Lifetimes
from colonnade.manifests.model.operations import (
    AddCheck,
    CreateDatabase,
    DropCheck,
    EnableFeatures,
    Operation,
    RenameTable,
    Restore,
    SetComment,
    SetLifetimes,
    SetPartitionLayout,
    SetPrimaryKey,
    SetProperties,
    SetSortOrder,
    Tag,
)
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    TRIPS,
    append,
    change,
    compact,
    database,
    delete,
    drop,
    entry,
    epoch_after,
    make_log,
    overwrite,
    table,
    vector,
    with_orders,
)
from tests.manifests.state.alterations import ID, NOTE, X, alter

KEY = ID.model_copy(update={"nullable": False})
CHECK = CheckConstraint(name="c", sql="id > 0", columns=(1,))

CHANGES: dict[str, Callable[[], Change]] = {
    "append": append,
    "overwrite": lambda: overwrite((0, 1)),
    "overwrite nothing": overwrite,
    "delete 0": lambda: delete(0, vector(1)),
    "delete 1": lambda: delete(1, vector(1)),
    "drop": drop,
    "other table": lambda: change(table(TRIPS, "trips")),
}

CONFLICTS = {
    "append": {"drop"},
    "overwrite": {"append", "overwrite", "overwrite nothing", "delete 0", "delete 1", "drop"},
    "overwrite nothing": {
        *("append", "overwrite", "overwrite nothing", "delete 0", "delete 1", "drop")
    },
    "delete 0": {"overwrite", "overwrite nothing", "delete 0", "drop"},
    "delete 1": {"overwrite", "overwrite nothing", "delete 1", "drop"},
    "drop": {"drop"},
    "other table": set(),
}


@pytest.mark.parametrize("mine", CHANGES)
@pytest.mark.parametrize("theirs", [name for name in CHANGES if name != "other table"])
def test_independent_changes_commit_and_a_conflict_says_who_was_first(
    mine: str, theirs: str
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(append(entry(), entry()), with_orders(store, log))
    log.commit(CHANGES[theirs](), base)
    change_of_mine = CHANGES[mine]()
    if theirs in CONFLICTS[mine]:
        with pytest.raises(ConflictError) as caught:
            log.commit(change_of_mine, base)
        assert "'orders'" in str(caught.value)
        assert "epoch 3" in str(caught.value)
        assert log.reader.read_head().epoch == 3
    else:
        assert log.commit(change_of_mine, base).epoch == 4


def test_a_table_dropped_and_created_again_is_another_table() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    state = log.commit(drop(), base)
    log.commit(change(table(TRIPS, "orders")), state)
    with pytest.raises(ConflictError, match="'orders' was dropped by epoch 2"):
        log.commit(append(), base)


def test_a_writer_feature_stops_writers_and_a_reader_feature_everybody() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    head = log.commit(change(EnableFeatures(writer=("row_ids",))), base)
    for snapshot in (base, head):
        with pytest.raises(UnsupportedFormatError, match="row_ids"):
            log.commit(append(), snapshot)
    assert log.reader.read_head().table("orders")
    other = MemoryStore()
    base = with_orders(other, make_log(other))
    with pytest.raises(UnsupportedFormatError, match="cubes"):
        make_log(other).commit(change(EnableFeatures(reader=("cubes",))), base)


def test_a_change_to_what_never_was_is_refused_before_any_write() -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    for wrong in (
        append(to=TRIPS),
        change(CreateDatabase(database=TRIPS, slot_block=4)),
        overwrite((0, 0)),
        delete(0, vector(1)),
        append(entry().model_copy(update={"place": "inline"})),
        append(entry().model_copy(update={"data": "QUJD"})),
    ):
        with pytest.raises(InvalidInputError):
            log.commit(wrong, base)
    assert log.reader.read_head() == base


BLOOM = {"bloom-filter-enabled.column.1": "true"}
DESIGNS: dict[str, Callable[[], Change]] = {
    "names a column": lambda: change(SetProperties(table=ORDERS, set={"merge.2": "add"})),
    "names another": lambda: change(SetProperties(table=ORDERS, set=BLOOM)),
    "names none": lambda: change(SetProperties(table=ORDERS, set={"owner": "me"})),
    "unsets": lambda: change(SetProperties(table=ORDERS, remove=("merge.2",))),
    "columns": lambda: change(alter(ID, X, NOTE)),
    "comment": lambda: change(SetComment(table=ORDERS, comment="new")),
    "append": append,
}
EXCLUDE = {("names a column", other) for other in ("names another", "unsets", "columns")}
EXCLUDE |= {("names another", "columns"), *((each, each) for each in DESIGNS if each != "append")}


@pytest.mark.parametrize("mine", DESIGNS)
@pytest.mark.parametrize("theirs", DESIGNS)
def test_properties_of_columns_and_changes_of_columns_exclude_each_other(
    mine: str, theirs: str
) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = with_orders(store, log)
    log.commit(DESIGNS[theirs](), base)
    if {(mine, theirs), (theirs, mine)} & EXCLUDE:
        with pytest.raises(ConflictError, match="Table 'orders' was changed"):
            log.commit(DESIGNS[mine](), base)
    else:
        log.commit(DESIGNS[mine](), base)


DESIGN: list[Operation] = [
    alter(KEY, X, NOTE),
    SetPartitionLayout(
        table=ORDERS, layout_id=1, fields=(PartitionField(column=1, transform="identity"),)
    ),
    SetSortOrder(table=ORDERS, order_id=1, fields=(SortField(column=1),)),
    SetPrimaryKey(table=ORDERS, columns=(1,)),
    SetLifetimes(table=ORDERS, lifetimes=Lifetimes(rows_ms=5, since_ms=1)),
    AddCheck(table=ORDERS, constraint=CHECK.model_copy(update={"name": "other"})),
    DropCheck(table=ORDERS, name="c"),
    Restore(table=ORDERS, epoch=1, constraints=()),
]
ALONE: list[Operation] = [
    SetComment(table=ORDERS, comment="new"),
    RenameTable(table=ORDERS, name="other"),
]


@pytest.mark.parametrize("mine", [*DESIGN, *ALONE], ids=lambda each: each.op)
def test_of_concurrent_changes_of_a_design_one_commits_and_names_and_comments_are_none(
    mine: Operation,
) -> None:
    store = MemoryStore()
    log = make_log(store)
    created = table().model_copy(
        update={"table_schema": TableSchema(fields=(KEY, X)), "constraints": (CHECK,)}
    )
    base = log.commit(change(created), database(store))
    for theirs in (*DESIGN, *ALONE):
        other = log.preview(change(theirs), base)
        excluded = mine == theirs or (mine in DESIGN and theirs in DESIGN)
        check = partial(check_epoch, change(mine), base, epoch_after(base, change(theirs)))
        if excluded:
            with pytest.raises(ConflictError, match="Table 'orders' was changed"):
                check()
        else:
            check()
            log.preview(change(mine), other)


@pytest.mark.parametrize("theirs", [*CHANGES, "compaction", "comment", "tag"])
def test_a_change_that_has_read_all_tables_follows_only_what_nobody_sees(theirs: str) -> None:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(table(TRIPS, "trips")), with_orders(store, log))
    base = log.commit(append(entry(), entry()), base)
    unseen = {"compaction": compact(), "tag": change(Tag(name="t", epoch=2))}
    seen = {
        **{name: made() for name, made in CHANGES.items()},
        "other table": change(table("f" * 16, "new")),
        "comment": change(SetComment(table=TRIPS, comment="new")),
    }
    log.commit({**seen, **unseen}[theirs], base)
    mine = replace(append(to=TRIPS), reads_all=True)
    if theirs in unseen:
        log.commit(mine, base)
    else:
        with pytest.raises(ConflictError, match="Table '(orders|trips|new)' was .* by epoch 4"):
            log.commit(mine, base)
