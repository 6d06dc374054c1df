"""What every store promises of the names of a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from colonnade.manifests.errors import AlreadyExistsError, NotFoundError
from colonnade.manifests.log.dropping import drop_database
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropDatabase
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import ObjectStore, PutOutcome, open_store
from tests.log_samples import change, table
from tests.manifests.store.conformance.stores import BUCKETS, SERVERS, SLOT, names

LATER = "_manifest/00000000000000000077.json"


@pytest.mark.slow
@pytest.mark.parametrize("server", SERVERS)
def test_a_late_epoch_meets_the_end_of_a_log_that_a_bucket_keeps(
    server: str, request: pytest.FixtureRequest, new_root: Callable[[Any], str]
) -> None:
    """A bucket cannot refuse a name for want of a folder. So a drop never frees a slot."""
    place = request.getfixturevalue(server)
    store = open_store(f"{BUCKETS[server]}://{new_root(place)}", place.options())
    assert store.keeps_logs
    log, state = Log(store), create_database(store, lone_table=False)
    for number in range(3):
        state = log.commit(change(table(f"{number:016x}", f"t{number}")), state)
    assert drop_database(log, cascade=True)
    end = state.epoch + 1
    last = decode_slot(store.get(epoch_name(end)), end, "the end")
    assert isinstance(last, Epoch)
    assert isinstance(last.ops[0], DropDatabase)
    for number in range(end + 1):
        assert store.put_if_absent(epoch_name(number), b"late") is PutOutcome.EXISTS
    with pytest.raises(NotFoundError, match=f"was dropped in epoch {end}"):
        log.commit(change(table("f" * 16, "late")), state)
    with pytest.raises(AlreadyExistsError, match="Its log stays"):
        create_database(store, lone_table=False)
    assert log.reader.is_dropped()


def test_no_epoch_but_the_first_begins_a_log(without_logs: ObjectStore) -> None:
    store = without_logs
    assert not store.keeps_logs
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER, b"x")
    store.put_if_absent("a", b"x")
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER, b"x")
    assert [info.name for info in store.list("")] == ["a"]
    store.put_if_absent(SLOT, b"x")
    assert store.put_if_absent(LATER, b"x") is PutOutcome.CREATED
    store.delete(SLOT)
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(LATER.replace("77", "78"), b"x")


def test_the_hint_and_marks_are_put_only_where_a_log_is(store: ObjectStore) -> None:
    hint, mark = "_manifest/hint.json", f"_manifest/freed-{'0' * 12}-{0:020}.json"
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put(hint, b"x", sync=False)
    with pytest.raises(NotFoundError, match="removed or replaced"):
        store.put_if_absent(mark, b"x")
    assert names(store) == []
    store.put_if_absent(SLOT, b"x")
    store.put(hint, b"x", sync=False)
    assert store.put_if_absent(mark, b"x") is PutOutcome.CREATED
