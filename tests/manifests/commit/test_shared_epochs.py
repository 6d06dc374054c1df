"""Readers refuse a shared epoch that contradicts itself or the state, or that they do not know."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from colonnade.manifests.commit.rebase.begin import begin
from colonnade.manifests.commit.sending import Sending
from colonnade.manifests.errors import CommitUnknownError, CorruptionError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.codec import byte_check, decode_slot, encode_epoch
from colonnade.manifests.model.epoch import Stub
from colonnade.manifests.model.operations import Anchor, RenameTable, SetComment
from colonnade.manifests.object_names import MANIFEST, epoch_name
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from tests.log_samples import ORDERS, append, change, make_log, table, with_orders
from tests.manifests.commit.together import shared_epoch
from tests.noted_store import NotedStore

OTHER = "f" * 16
ANCHOR = Anchor(epoch=2, root="1" * 32, check=byte_check(b""))


def test_damage_that_a_freed_slot_explains_is_not_reported_while_an_append_waits() -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    sending = Sending(append(), base, store)
    sending.carried = begin(sending.change, base, make_log(store))
    # A renaming of a table that does not exist. Its epoch does not fit the state.
    odd = shared_epoch(base).model_copy(
        update={"further": None, "ops": (RenameTable(table=OTHER, name="x"),)}
    )
    store.put(epoch_name(odd.epoch), encode_epoch(odd), sync=False)
    sending.look()
    assert not sending.follow(store.turn(MANIFEST), waited=True)
    removed = Stub(removed=odd.epoch, floor=odd.epoch, anchor=ANCHOR)
    with (
        patch("colonnade.manifests.commit.sending.find_freed", lambda *_: removed),
        pytest.raises(CommitUnknownError, match="removed by retention"),
    ):
        sending.offer(store.turn(MANIFEST), "test", Limits())


@pytest.mark.parametrize(
    ("update", "message"),
    [
        ({"further": ()}, "without operations"),
        ({"ops": 1}, "without operations"),
        ({"transaction": 0}, "one transaction twice"),
        ({"base": 2}, "a later epoch"),
        ({"comment": 1}, "not an append"),
    ],
)
def test_a_shared_epoch_that_contradicts_itself_is_refused(
    update: dict[str, object], message: str
) -> None:
    store = NotedStore()
    base = with_orders(store, make_log(store))
    good = shared_epoch(base)
    data = encode_epoch(good)
    assert decode_slot(data, good.epoch, epoch_name(good.epoch)) == good
    assert apply_epoch(base, good).table("orders").rowsets.rowset_count == 2
    [further] = good.further or ()
    bad = {
        "further": good.model_copy(update={"further": ()}),
        "ops": good.model_copy(update={"ops": good.ops[:1]}),
        "transaction": good.model_copy(update={"transaction": further.transaction}),
        "base": good.model_copy(
            update={"further": (further.model_copy(update={"base": good.epoch}),)}
        ),
        "comment": good.model_copy(
            update={"ops": (SetComment(table=ORDERS, comment="x"), *good.ops[1:])}
        ),
    }
    with pytest.raises(CorruptionError, match=message):
        apply_epoch(base, bad[next(iter(update))])


def with_orders_in(log: Log) -> Snapshot:
    """Create the table in a database that exists already."""
    return log.commit(change(table()), log.read_head())
