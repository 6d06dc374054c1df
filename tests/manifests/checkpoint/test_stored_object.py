"""An object of a checkpoint is read from its copy if the object itself is damaged or missing."""

from __future__ import annotations

import pytest

from colonnade.manifests.checkpoint.stored_object import (
    read_checkpoint_object,
    read_checkpoint_pages,
)
from colonnade.manifests.errors import CorruptionError, NotFoundError, StoreError
from colonnade.manifests.model.codec import seal
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store import MemoryStore
from tests.faults import FaultyStore

OBJECT = "ab" * 16
PAGES = [seal(b'{"page":%d}' % number) for number in range(3)]
WHOLE = b"".join(PAGES)
RANGES = [(0, len(PAGES[0])), (len(PAGES[0]) + len(PAGES[1]), len(PAGES[2]))]
DAMAGED = WHOLE.replace(b'"page":2', b'"page":9')


class Forgetful(FaultyStore):
    """Says what a cache has to drop, and how often it was asked."""

    def __init__(self) -> None:
        super().__init__(MemoryStore())
        self.forgotten: list[str] = []

    def forget(self, name: str) -> None:
        self.forgotten.append(name)


class Away(Forgetful):
    """A store that cannot be reached."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def get(self, name: str, *, limit: int | None = None) -> bytes:
        self.asked.append(name)
        raise StoreError("The network is away.")


def store(own: bytes | None, copy: bytes | None) -> Forgetful:
    made = Forgetful()
    for name, data in ((checkpoint_name(OBJECT), own), (copy_name(OBJECT), copy)):
        if data is not None:
            made.put(name, data, sync=False)
    made.trace.clear()
    return made


def read(found: Forgetful) -> bytes:
    def decode(data: bytes, name: str) -> bytes:
        if data != WHOLE:
            raise CorruptionError(f"{name} is damaged.")
        return data

    return read_checkpoint_object(found, OBJECT, len(WHOLE), decode)


def read_pages(found: Forgetful) -> list[bytes]:
    return read_checkpoint_pages(found, OBJECT, RANGES)


@pytest.mark.parametrize("copy", [WHOLE, DAMAGED, None])
def test_a_sound_object_costs_one_request_whatever_became_of_its_copy(copy: bytes | None) -> None:
    found = store(WHOLE, copy)
    assert read(found) == WHOLE
    assert len(found.trace) == 1
    found.trace.clear()
    assert read_pages(found) == [PAGES[0], PAGES[2]]
    assert len(found.trace) == 1
    assert not found.forgotten


@pytest.mark.parametrize("own", [DAMAGED, None, WHOLE + b"longer"])
def test_a_damaged_or_missing_object_is_read_from_its_copy(own: bytes | None) -> None:
    found = store(own, WHOLE)
    assert read(found) == WHOLE
    assert len(found.trace) == 2
    # A cache must not keep the damaged bytes.
    assert found.forgotten == ([] if own is None else [checkpoint_name(OBJECT)])


@pytest.mark.parametrize("own", [DAMAGED, None, WHOLE[:-1]])
def test_a_damaged_page_is_read_from_the_copy(own: bytes | None) -> None:
    assert read_pages(store(own, WHOLE)) == [PAGES[0], PAGES[2]]


@pytest.mark.parametrize(
    ("own", "copy", "kind"),
    [
        (DAMAGED, None, CorruptionError),
        (DAMAGED, DAMAGED, CorruptionError),
        (None, DAMAGED, NotFoundError),
        (None, None, NotFoundError),
    ],
)
def test_without_a_usable_copy_the_error_is_that_of_the_object_itself(
    own: bytes | None, copy: bytes | None, kind: type[Exception]
) -> None:
    for call in (read, read_pages):
        with pytest.raises(kind, match=checkpoint_name(OBJECT)):
            call(store(own, copy))


def test_a_store_that_does_not_answer_is_not_asked_for_the_copy() -> None:
    found = Away()
    with pytest.raises(StoreError):
        read(found)
    assert found.asked == [checkpoint_name(OBJECT)]
