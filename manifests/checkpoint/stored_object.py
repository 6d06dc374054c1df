"""Read the objects of checkpoints. Objects of an anchor have a copy, which serves as well.

Spec: docs/spec/checkpoint.md#copies
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import unseal
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store.object_store import ObjectStore

T = TypeVar("T")


def read_checkpoint_object(
    store: ObjectStore, object_id: str, limit: int, decode: Callable[[bytes, str], T]
) -> T:
    """Return what `decode` returns for an object of at most `limit` bytes, or for its copy.

    `decode` takes the bytes and their location, and raises CorruptionError for damaged bytes. Costs
    one GET, and another one if the object is damaged or missing. If the copy is unusable too,
    raises the error of the object itself: NotFoundError, CorruptionError. Raises StoreError.
    """

    def read(name: str) -> T:
        return decode(store.get(name, limit=limit), store.locate(name))

    return _either(store, object_id, read)


def read_checkpoint_pages(
    store: ObjectStore, object_id: str, ranges: Sequence[tuple[int, int]]
) -> list[bytes]:
    """Return the sealed pages at (offset, length) ranges of an object, or of its copy.

    Costs and raises as `read_checkpoint_object`.
    """

    def read(name: str) -> list[bytes]:
        pages = [bytes(page) for page in store.get_ranges(name, ranges)]
        for page in pages:
            unseal(page, store.locate(name))
        return pages

    return _either(store, object_id, read)


def _either(store: ObjectStore, object_id: str, read: Callable[[str], T]) -> T:
    try:
        return _checked(store, checkpoint_name(object_id), read)
    except (NotFoundError, CorruptionError) as error:
        try:
            return _checked(store, copy_name(object_id), read)
        except (NotFoundError, CorruptionError):
            raise error from None


def _checked(store: ObjectStore, name: str, read: Callable[[str], T]) -> T:
    try:
        return read(name)
    except CorruptionError:
        store.forget(name)
        raise
