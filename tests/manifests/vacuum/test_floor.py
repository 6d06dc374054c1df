"""An anchor of many tables is compared with its state where its pages are new."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.checkpoint.stored_tables import CheckpointTables
from colonnade.manifests.checkpoint.writer import store_snapshot
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import TableId, new_table_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import DropTable, RenameTable, SetComment
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum import floor
from colonnade.manifests.vacuum.floor import cached_objects, write_anchor
from tests.log_samples import append, change, contents, database, entry, land, make_log, table

SMALL = Limits(root_tables=2, root_bytes=100, page_bytes=4096)


def with_tables(count: int) -> tuple[MemoryStore, Log, Snapshot]:
    """A database of many tables, and its state as an anchor stores it."""
    store = MemoryStore(now_ms=lambda: 0)
    log = make_log(store, 2**40, limits=SMALL)
    made = [table(new_table_id(), f"t{number}") for number in range(count)]
    state = log.commit(change(*made), database(store))
    return store, log, write_anchor(log, state)[1]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tables that were decoded, each time that one was."""
    found: list[str] = []
    decode = CheckpointTables._decode

    def counted(self: CheckpointTables, key: str, value: object) -> object:
        found.append(key)
        return decode(self, key, value)

    monkeypatch.setattr(CheckpointTables, "_decode", counted)
    return found


def changes(state: Snapshot) -> list[Change]:
    """One change of each kind that tells two states apart."""
    key = state.table("t7").id
    return [
        append(entry(), to=key),
        change(SetComment(table=key, comment="changed")),
        change(RenameTable(table=key, name="renamed")),
        change(DropTable(table=state.table("t8").id)),
        change(table(new_table_id(), "more")),
        change(DropTable(table=state.table("t9").id), table(new_table_id(), "t9")),
        land({"job": 1}, to=key),
    ]


@pytest.mark.parametrize("number", range(7))
def test_an_anchor_after_a_small_change_is_compared_where_it_is_new(
    number: int, decoded: list[str]
) -> None:
    _, log, state = with_tables(500)
    after = log.commit(changes(state)[number], state)
    decoded.clear()
    anchor, _ = write_anchor(log, after)
    assert len(decoded) < 100
    assert contents(log, read_state(log.store, anchor)) == contents(log, after)


@pytest.mark.parametrize("number", range(7))
def test_an_anchor_that_lacks_the_last_change_is_refused(
    number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, log, state = with_tables(60)
    after = log.commit(changes(state)[number], state)
    monkeypatch.setattr(
        floor, "store_snapshot", lambda store, _, **more: store_snapshot(store, state, **more)
    )
    with pytest.raises(CorruptionError, match="is not the state that was written"):
        write_anchor(log, after)


def test_a_page_that_many_checkpoints_share_is_read_once_to_find_their_objects(
    decoded: list[str],
) -> None:
    store, log, _ = with_tables(1500)
    state = log.read_head()
    key: TableId = state.table("t7").id
    for _ in range(70):
        state = log.commit(append(entry(), to=key), state)
        state = log.try_checkpoint(state)
    decoded.clear()
    found = cached_objects(store, 0)
    assert state.stored_objects() <= found
    assert state.table("t7").listing_objects() <= found
    assert len(decoded) < 5000
