"""What a draft promises beside the contract of all stores (`conformance/`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import AlreadyExistsError, ColonnadeError, NotFoundError
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store import LocalStore, MemoryStore, ObjectStore, PutOutcome
from colonnade.manifests.store.draft import DraftStore
from tests.examples_of import examples
from tests.faults import FaultyStore

NAMES = ("t/a", "t/b", "u/c", epoch_name(0), epoch_name(1))
READING = {"get", "get_ranges", "list", "modified_ms"}

Outcome = object
Step = tuple[str, str, bytes]


def apply(store: ObjectStore, step: Step) -> Outcome:
    """Make one call; its outcome is what it returned, or the kind of its error."""
    operation, name, data = step
    calls: dict[str, Callable[[], Outcome]] = {
        "put": lambda: store.put(name, data, sync=True),
        "put_if_absent": lambda: store.put_if_absent(name, data),
        "create": lambda: write(store, name, data),
        "delete": lambda: store.delete(name),
        "remove_many": lambda: store.remove_many([name]),
        "get": lambda: store.get(name),
        "get_ranges": lambda: [*store.get_ranges(name, [(1, 2), (0, 1)])],
        "modified_ms": lambda: store.modified_ms(name),
        "list": lambda: sorted(store.list(name[:2])),
    }
    try:
        return calls[operation]()
    except ColonnadeError as error:
        return type(error)


def write(store: ObjectStore, name: str, data: bytes) -> None:
    with store.create(name, sync=True) as writer:
        writer.write(data)


def contents(store: ObjectStore) -> dict[str, bytes]:
    return {info.name: store.get(info.name) for info in store.list("")}


OPERATIONS = (
    "put", "put_if_absent", "create", "delete", "remove_many",
    "get", "get_ranges", "modified_ms", "list",
)  # fmt: skip


@given(
    before=st.dictionaries(st.sampled_from(NAMES), st.binary(min_size=1, max_size=4)),
    steps=st.lists(
        st.tuples(
            st.sampled_from(OPERATIONS), st.sampled_from(NAMES), st.binary(min_size=1, max_size=4)
        ),
        max_size=12,
    ),
)
@settings(max_examples=examples(300), deadline=None)
def test_a_draft_answers_as_its_store_would_and_never_writes_to_it(
    before: dict[str, bytes], steps: list[Step]
) -> None:
    inner, real = (MemoryStore(now_ms=lambda: 7) for _ in range(2))
    for store in (inner, real):
        for name in sorted(before):
            # Without epoch 0, the store takes no later epoch.
            apply(store, ("put", name, before[name]))
    kept, watched = contents(inner), FaultyStore(inner)
    draft = DraftStore(watched, now_ms=lambda: 7)
    for step in steps:
        assert apply(draft, step) == apply(real, step), step
    assert contents(draft) == contents(real)
    assert contents(inner) == kept
    assert {call.operation for call in watched.trace} <= READING


def test_an_object_that_exists_is_not_created_in_a_draft() -> None:
    inner = MemoryStore()
    for name, data in (("t/a", b"1"), ("t/b", b"long")):
        inner.put(name, data, sync=True)
        draft = DraftStore(inner)
        assert draft.put_if_absent(name, b"2") is PutOutcome.EXISTS
        with pytest.raises(AlreadyExistsError):
            write(draft, name, b"2")
        assert draft.get(name) == data


def test_what_others_write_meanwhile_is_seen_unless_the_draft_touched_it() -> None:
    inner = MemoryStore()
    draft = DraftStore(inner)
    draft.put("t/a", b"draft", sync=True)
    draft.delete("t/b")
    for name in ("t/a", "t/b", "t/c"):
        inner.put(name, b"other", sync=True)
    assert contents(draft) == {"t/a": b"draft", "t/c": b"other"}
    with pytest.raises(NotFoundError):
        draft.get("t/b")


def test_a_draft_shows_names_as_its_store_does_and_asks_it_for_no_date(tmp_path: Path) -> None:
    inner = FaultyStore(LocalStore(tmp_path))
    draft = DraftStore(inner, now_ms=lambda: 5)
    assert draft.locate("t/a") == inner.locate("t/a")
    assert draft.address == inner.address
    assert draft.date_of_write("t/a") == 5
    assert (draft.uncached, inner.trace, [*tmp_path.iterdir()]) == (draft, [], [])
