"""Objects that are written in parts appear whole or not at all, in every store."""

from __future__ import annotations

import pytest

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, NotFoundError
from colonnade.manifests.store import ObjectStore
from tests.manifests.store.conformance.stores import names


def test_a_streamed_object_appears_whole_when_closed(store: ObjectStore) -> None:
    for sync in (True, False):
        name = f"t/{sync}.rowset"
        with store.create(name, sync=sync) as writer:
            writer.write(b"one ")
            writer.write(memoryview(b"two"))
            assert names(store, name) == []
            with pytest.raises(NotFoundError):
                store.get(name)
        assert store.get(name) == b"one two"
        writer.close()
        writer.abort()
        assert store.get(name) == b"one two"
        with pytest.raises(InvalidInputError, match="no longer"):
            writer.write(b"three")


def test_a_streamed_object_that_fails_leaves_nothing(store: ObjectStore) -> None:
    def fail_midway() -> None:
        with store.create("t/a.rowset", sync=True) as writer:
            writer.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_midway()
    assert names(store) == []
    with store.create("t/a.rowset", sync=True) as writer:
        writer.write(b"whole")
    assert store.get("t/a.rowset") == b"whole"


def test_a_streamed_object_never_replaces_another(store: ObjectStore) -> None:
    early = store.create("t/a.rowset", sync=True)
    early.write(b"early")
    store.put_if_absent("t/a.rowset", b"taken")
    with (
        pytest.raises(AlreadyExistsError, match=r"t/a\.rowset"),
        store.create("t/a.rowset", sync=True) as late,
    ):
        late.write(b"late")
    with pytest.raises(AlreadyExistsError, match=r"t/a\.rowset"):
        early.close()
    assert store.get("t/a.rowset") == b"taken"
    assert names(store) == ["t/a.rowset"]


@pytest.mark.parametrize("sync", [True, False])
def test_objects_that_are_closed_together_are_all_there_and_whole(
    store: ObjectStore, sync: bool
) -> None:
    bodies = {f"t/{i % 3}/{i}": bytes([i]) * 5000 for i in range(40)}
    writers = [store.create(name, sync=sync) for name in bodies]
    for writer, body in zip(writers, bodies.values(), strict=True):
        writer.write(body)
    store.close_all(writers)
    assert {name: store.get(name) for name in bodies} == bodies
    store.close_all(writers)  # as `close` does nothing after `close`
    assert not list(store.list_unfinished())


def test_objects_that_are_closed_together_never_replace_one(store: ObjectStore) -> None:
    writers = [store.create(f"t/{i}", sync=True) for i in range(5)]
    for writer in writers:
        writer.write(b"mine")
    store.put("t/2", b"theirs", sync=False)
    with pytest.raises(AlreadyExistsError, match="t/2"):
        store.close_all(writers)
    assert store.get("t/2") == b"theirs"
    assert all(store.get(each.name) == b"mine" for each in store.list("t/") if each.name != "t/2")
    assert not list(store.list_unfinished())
    for writer in writers:
        with pytest.raises(InvalidInputError):
            writer.write(b"more")
