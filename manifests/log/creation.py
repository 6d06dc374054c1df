"""Create a database: epoch 0. Databases do not nest.

Spec: docs/spec/layout.md#databases
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator

from colonnade.manifests.clock import now_ms
from colonnade.manifests.engine import engine_name
from colonnade.manifests.epochs.slots import check_unused, is_taken, read_slot, take_slot
from colonnade.manifests.errors import (
    AlreadyExistsError,
    CorruptionError,
    InvalidInputError,
    StoreError,
)
from colonnade.manifests.ids import new_table_id, new_transaction_id
from colonnade.manifests.log.removed_folder import move_away
from colonnade.manifests.log.removed_objects import remove_objects, used_place_error
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.members import SHARED_EPOCHS
from colonnade.manifests.model.operations import CreateDatabase, DropDatabase, Epoch
from colonnade.manifests.model.slot_blocks import FREED_SLOTS, SLOT_BLOCK
from colonnade.manifests.object_names import MANIFEST, epoch_name, epoch_number
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.store.local import LocalStore

_FOREIGN = re.compile(
    r"_delta_log|\.hoodie|_SUCCESS|[^=]+=.*"
    r"|.*\.(?:parquet|orc|avro|csv|tsv|json|jsonl|ndjson|arrow|feather|lance)(?:\.[a-z0-9]{2,4})?",
    re.IGNORECASE | re.DOTALL,
)
"""Names that other formats give to their files, logs and partition folders."""


def create_database(
    store: ObjectStore,
    *,
    lone_table: bool,
    clock_ms: Callable[[], int] = now_ms,
    pause: Callable[[float], None] = time.sleep,
    engine: str | None = None,
    slot_block: int | None = SLOT_BLOCK,
    shared_epochs: bool = True,
) -> Snapshot:
    """Create an empty database and return its first state, epoch 0.

    `lone_table` means that it holds one table only, whose objects are at the root. `slot_block` is
    the number of slots of its log that are freed together; None: slots are never freed. With
    `shared_epochs`, an epoch may hold several appends that waited at the same time. The call first
    removes the remains of a killed drop. Cost: two listings of everything below the root.

    Raises AlreadyExistsError if a database exists already, or was dropped at a place that keeps its
    log; InvalidInputError if the folder holds
    data of another format, or if a database exists above or below. A nested database may be found
    only after epoch 0 was written, because both were created at once. The new one then stays there,
    empty: slot 0 is never freed, and another writer may use the database already. Raises
    CorruptionError if epoch 0 of a log is missing; CommitUnknownError; StoreError.
    """
    _refuse_nested(store, "would be")
    _finish_drop(store)
    if not is_taken(store, 0):
        check_unused(store)
        refuse_foreign_data(store)
    epoch = Epoch(
        epoch=0,
        transaction=new_transaction_id(),
        base=0,
        time_ms=max(0, clock_ms()),
        operation="create_database",
        engine=engine or engine_name(),
        ops=(_creation(lone_table, slot_block, shared_epochs),),
    )
    found = take_slot(store, epoch, encode_epoch(epoch), pause)
    if not isinstance(found, Epoch) or found.transaction != epoch.transaction:
        raise AlreadyExistsError(f"{store.url} is a Colonnade database or table already.")
    _refuse_nested(store, "was just created and is")
    return apply_epoch(None, found)


def _creation(lone_table: bool, slot_block: int | None, shared_epochs: bool) -> CreateDatabase:
    features = (
        *(() if slot_block is None else (FREED_SLOTS,)),
        *((SHARED_EPOCHS,) if shared_epochs else ()),
    )
    return CreateDatabase(
        database=new_table_id(),
        lone_table=lone_table,
        reader_features=features,
        writer_features=features,
        slot_block=slot_block,
    )


def _finish_drop(store: ObjectStore) -> None:
    """Remove the remains of a killed drop if the end of its log still exists.

    Lists the folder of the log. Raises CorruptionError if there are epochs of a log that did not
    end, because the new log would run into them.
    """
    listed = (epoch_number(info.name) for info in store.list(f"{MANIFEST}/"))
    numbers = [number for number in listed if number is not None]
    newest = read_slot(store, max(numbers)) if numbers else None
    ended = isinstance(newest, Epoch) and any(isinstance(op, DropDatabase) for op in newest.ops)
    if ended and store.keeps_logs:
        remove_objects(store)
        raise used_place_error(store)
    if ended:
        move_away(store)
    elif numbers and 0 not in numbers and not is_taken(store, 0):
        raise CorruptionError(
            f"{store.locate(epoch_name(0))} is missing, although {epoch_name(max(numbers))}"
            " exists: restore it, or remove the folder to give that database up."
        )


def refuse_foreign_data(store: ObjectStore) -> None:
    """Refuse a folder that directly contains data of another format. Lists that folder.

    A reader of either format could read both as one. Raises InvalidInputError that names an
    example; StoreError.
    """
    foreign = next(filter(_FOREIGN.fullmatch, _names_at_root(store)), None)
    if foreign is not None:
        raise InvalidInputError(
            f"{store.url} holds data of another format, such as {foreign}; give Colonnade a folder"
            " of its own, or move that data away first."
        )


def _names_at_root(store: ObjectStore) -> Iterator[str]:
    """Yield the names of files and folders directly below the root; nothing if it is missing."""
    if not isinstance(store, LocalStore):
        yield from (info.name.partition("/")[0] for info in store.list(""))
        return
    try:
        yield from sorted(os.listdir(store.url))
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise StoreError(f"{store.url} could not be listed: {error.strerror}.") from error


def _refuse_nested(store: ObjectStore, status: str) -> None:
    for kind, other in _others(store):
        raise InvalidInputError(
            f"{store.url} {status} {kind} the Colonnade database {other}, and databases do not"
            " nest; choose another place for one of the two."
        )


def _others(store: ObjectStore) -> Iterator[tuple[str, str]]:
    """Yield databases above and below `store`, each with the relation of `store` to it."""
    for above in _folders_above(store.url) if isinstance(store, LocalStore) else ():
        # A folder without read permission is not an obstacle: no process reads a database there.
        if os.path.isfile(f"{above}/{epoch_name(0)}"):
            yield "inside", above
    ending = f"/{epoch_name(0)}"
    for info in store.list(""):
        if info.name.endswith(ending):
            yield "around", store.locate(info.name.removesuffix(ending))


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path, as given and with links resolved."""
    for each in dict.fromkeys((path, os.path.realpath(path))):
        while (above := os.path.dirname(each)) != each:
            yield above
            each = above
