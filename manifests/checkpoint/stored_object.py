"""Reading the objects of checkpoints. Those of an anchor are stored twice, and either serves.

Spec: docs/spec/checkpoint.md#copies
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.model.codec import unseal
from colonnade.manifests.object_names import checkpoint_name, copy_name
from colonnade.manifests.store.base import ObjectStore

T = TypeVar("T")


def read_checkpoint_object(
    store: ObjectStore, object_id: str, limit: int, decode: Callable[[bytes, str], T]
) -> T:
    """What `decode` makes of an object of at most `limit` bytes, or else of its copy.

    `decode` is given the bytes and where they are stored, and raises CorruptionError for bytes that
    are damaged. Costs one GET, and another one where the object is damaged or gone. Raises what
    reading the object itself raises, where the copy does not serve either: NotFoundError,
    CorruptionError; StoreError.
    """
    return _either(object_id, lambda name: decode(store.get(name, limit=limit), store.locate(name)))


def read_checkpoint_pages(
    store: ObjectStore, object_id: str, ranges: Sequence[tuple[int, int]]
) -> list[bytes]:
    """Sealed pages at (offset, length) within an object, or within its copy.

    Costs and raises as `read_checkpoint_object`.
    """

    def read(name: str) -> list[bytes]:
        pages = [bytes(page) for page in store.get_ranges(name, ranges)]
        for page in pages:
            unseal(page, store.locate(name))
        return pages

    return _either(object_id, read)


def _either(object_id: str, read: Callable[[str], T]) -> T:
    try:
        return read(checkpoint_name(object_id))
    except (NotFoundError, CorruptionError) as error:
        try:
            return read(copy_name(object_id))
        except (NotFoundError, CorruptionError):
            raise error from None
