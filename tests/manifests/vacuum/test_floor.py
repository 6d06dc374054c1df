"""An anchor of many tables is compared with its state where its pages are new."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.reader import read_state
from colonnade.manifests.checkpoint.writer import store_snapshot
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.ids import new_table_id
from colonnade.manifests.model.operations import DropTable, RenameTable, SetComment
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.vacuum import floor
from colonnade.manifests.vacuum.floor import write_anchor
from colonnade.manifests.vacuum.references import StateObjects
from tests.log_samples import append, change, contents, entry, land, table
from tests.manifests.vacuum.many_tables import with_tables


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
    anchor, _ = write_anchor(log.reader, after, StateObjects(log.store))
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
        write_anchor(log.reader, after, StateObjects(log.store))
