"""No row lands that was not compared by a new primary key, in either order of the two writers."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import (
    CreateTable,
    SetComment,
    SetPrimaryKey,
)
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from tests.log_samples import (
    ORDERS,
    append,
    change,
    compact,
    database,
    delete,
    drop,
    entry,
    make_log,
    overwrite,
    vector,
)
from tests.manifests.state.alterations import NOTE, alter

ID = SchemaField(id=1, name="id", type="long", nullable=False)
X = SchemaField(id=2, name="x", type="double", nullable=False)
CREATE = CreateTable(
    table=ORDERS, name="orders", table_schema=TableSchema(fields=(ID, X)), next_column_id=3
)


def set_key(*columns: int) -> Change:
    return change(SetPrimaryKey(table=ORDERS, columns=columns), name="alter_table")


CHANGES: dict[str, Callable[[], Change]] = {
    "append": append,
    "overwrite": lambda: overwrite((0, 1)),
    "delete": lambda: delete(0, vector(1)),
    "compaction": compact,
    "set key": lambda: set_key(1),
    "drop key": set_key,
    "alter schema": lambda: change(alter(ID, X, NOTE)),
    "comment": lambda: change(SetComment(table=ORDERS, comment="new")),
    "drop": drop,
}
REFUSED_AFTER_A_NEW_KEY = {"append", "overwrite", "set key", "drop key", "alter schema"}
A_NEW_KEY_IS_REFUSED_AFTER = REFUSED_AFTER_A_NEW_KEY | {"drop"}


def start(key: Change | None = None) -> tuple[Log, Snapshot]:
    store = MemoryStore()
    log = make_log(store)
    base = log.commit(change(CREATE), database(store))
    base = log.commit(append(entry(), entry()), base)
    return log, base if key is None else log.commit(key, base)


@pytest.mark.parametrize("other", CHANGES)
@pytest.mark.parametrize("first", [True, False], ids=["key first", "key second"])
def test_a_new_key_and_rows_that_it_did_not_see_exclude_each_other(other: str, first: bool) -> None:
    log, base = start(set_key(1))
    mine, theirs = (CHANGES[other](), set_key(2)) if first else (set_key(2), CHANGES[other]())
    log.commit(theirs, base)
    refusing = REFUSED_AFTER_A_NEW_KEY if first else A_NEW_KEY_IS_REFUSED_AFTER
    if other in refusing:
        with pytest.raises(ConflictError, match="'orders'"):
            log.commit(mine, base)
    else:
        log.commit(mine, base)


def test_rows_may_follow_when_the_key_was_dropped_and_the_reverse() -> None:
    log, base = start(set_key(1))
    log.commit(set_key(), base)
    assert log.commit(append(), base).table("orders").rowsets.row_count == 30
    log, base = start(set_key(1))
    log.commit(append(), base)
    assert log.commit(set_key(), base).table("orders").primary_key == ()


def test_rows_may_not_follow_a_first_key() -> None:
    log, base = start()
    log.commit(set_key(2, 1), base)
    with pytest.raises(ConflictError, match=r"got the primary key \(x, id\) after epoch 2"):
        log.commit(append(), base)
