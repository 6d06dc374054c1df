"""The objects that kept epochs name, so that a vacuum reads each epoch once.

An epoch never changes, and a transaction is in one log at one place. So one epoch of the log that
has the transaction of the last remembered one proves that all of them are epochs of this log.
Spec: docs/spec/checkpoint.md#epoch-names
"""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from colonnade.manifests.checkpoint.names_file import (
    decode_lists,
    encode_lists,
    read_file,
    write_file,
)
from colonnade.manifests.model.codec import decode_model, encode_model
from colonnade.manifests.model.entries import Count
from colonnade.manifests.model.epoch import TransactionIdText
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model
from colonnade.manifests.object_names import EPOCH_NAMES
from colonnade.manifests.store.object_store import ObjectStore

EPOCHS_LIMIT = 2**24
"""The most epochs of the file."""


class EpochNames(NamedTuple):
    """The objects that each of the epochs from `first` on names, those of its segments included.

    `transaction` is that of the last epoch.
    """

    first: int
    transaction: str
    names: tuple[tuple[str, ...], ...]

    @property
    def last(self) -> int:
        """The last epoch; without epochs, the number before `first`."""
        return self.first + len(self.names) - 1

    def objects(self) -> set[str]:
        """Return the objects that all of the epochs name."""
        return {*chain.from_iterable(self.names)}

    def after(self, epoch: int) -> EpochNames:
        """Return the names of the epochs after one, which is from `first` - 1 up to `last`."""
        return self._replace(first=epoch + 1, names=self.names[epoch + 1 - self.first :])

    def followed_by(self, later: EpochNames) -> EpochNames:
        """Return the names of these epochs and of those right after them."""
        return later._replace(first=self.first, names=self.names + later.names)


class EpochNamesBody(Model):
    """The content of the file. Each epoch has the next `counts[i]` elements of `objects`."""

    format_version: Literal[1] = 1
    first: Count
    epochs: Annotated[int, Field(ge=1, le=EPOCHS_LIMIT)]
    transaction: TransactionIdText
    counts: IntegerArray
    objects: str


def encode_epoch_names(known: EpochNames) -> bytes:
    """Write names. Requires: at least one epoch, and at most `EPOCHS_LIMIT`."""
    counts, objects = encode_lists(known.names)
    return encode_model(
        EpochNamesBody(
            first=known.first,
            epochs=len(known.names),
            transaction=known.transaction,
            counts=counts,
            objects=objects,
        )
    )


def decode_epoch_names(data: bytes, name: str) -> EpochNames:
    """Read names. Raises CorruptionError; UnsupportedFormatError for another version."""
    body = decode_model(EpochNamesBody, data, name)
    names = decode_lists(body.counts, body.objects, body.epochs, name)
    return EpochNames(body.first, body.transaction, tuple(names))


def read_epoch_names(store: ObjectStore) -> EpochNames | None:
    """Return the stored names, or None if they are missing, damaged or of another version.

    They may be those of another log. Costs a GET. Raises StoreError.
    """
    return read_file(store, EPOCH_NAMES, decode_epoch_names)


def write_epoch_names(store: ObjectStore, known: EpochNames | None) -> None:
    """Replace the stored names, unless they would take more than `names_file.SIZE_LIMIT`.

    Removes the file without names, and beyond `EPOCHS_LIMIT`. Costs a PUT or a DELETE. Raises
    StoreError; NotFoundError if the log was dropped.
    """
    fits = known is not None and len(known.names) <= EPOCHS_LIMIT
    write_file(store, EPOCH_NAMES, encode_epoch_names(known) if known and fits else b"")
