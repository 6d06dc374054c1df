"""Create a database: epoch 0. Databases do not nest.

Spec: docs/spec/layout.md#databases
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from colonnade.manifests.clock import now_ms
from colonnade.manifests.engine import engine_name, present_author, user_name
from colonnade.manifests.epochs.slots import is_taken, read_slot, take_slot
from colonnade.manifests.errors import (
    AlreadyExistsError,
    CorruptionError,
    InvalidInputError,
)
from colonnade.manifests.ids import new_table_id, new_transaction_id
from colonnade.manifests.log.other_formats import log_part, names_in, names_near
from colonnade.manifests.log.removed_folder import move_away, put_back, remove_lone_table
from colonnade.manifests.log.removed_objects import remove_objects, used_place_error
from colonnade.manifests.model.codec import encode_epoch
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import CreateDatabase, DropDatabase
from colonnade.manifests.model.slot_blocks import SLOT_BLOCK
from colonnade.manifests.object_names import FREED, HINT, epoch_name, epoch_number
from colonnade.manifests.state.fold import apply_epoch
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store.local import LocalStore
from colonnade.manifests.store.object_store import ObjectStore

_FOREIGN = re.compile(
    r"_SUCCESS|[^=]+=.*"
    r"|.*\.(?:parquet|orc|avro|csv|tsv|json|jsonl|ndjson|arrow|feather|lance)(?:\.[a-z0-9]{2,4})?",
    re.IGNORECASE | re.DOTALL,
)
"""Names that other formats give to their files and partition folders."""


def create_database(
    store: ObjectStore,
    *,
    lone_table: bool,
    clock_ms: Callable[[], int] = now_ms,
    pause: Callable[[float], None] = time.sleep,
    engine: str | None = None,
    slot_block: int = SLOT_BLOCK,
) -> Snapshot:
    """Create an empty database and return its first state, epoch 0.

    `lone_table` means that it holds one table only. `slot_block` is the number of slots of its log
    that are freed together. The call first removes the remains of a
    killed drop, or moves a live database back that such a drop has moved away. Cost: one PUT, and
    two listings of everything below the root. The second one finds little.

    Raises AlreadyExistsError if a database exists already, or was dropped at a place that keeps its
    log. Raises InvalidInputError if the folder holds data of another format, if it is the home or
    root folder and has files, or if a database exists above or below it. A nested database may be
    found only after epoch 0 was written, because both were created at once. The new one then stays
    there, empty: slot 0 is never freed, and another writer may use the database already. Raises
    CorruptionError if epoch 0 of a log is missing; CommitUnknownError; StoreError.
    """
    prepare_place(store, lone_table=lone_table)
    first = first_epoch(
        lone_table=lone_table,
        clock_ms=clock_ms,
        engine=engine,
        slot_block=slot_block,
    )
    return begin_log(store, first, pause=pause)


def prepare_place(store: ObjectStore, *, lone_table: bool) -> None:
    """Check that a database may be created at a place, and finish or undo a killed drop there.

    Call it before the first object of the database is written, because what it finds there it may
    remove. Costs a listing of everything below the root. Raises as `create_database`.
    """
    put_back(store)
    place = _look(store, "would be")
    if place.newest is not None:
        _finish_drop(store, place, lone_table)
    elif place.remains is not None and not is_taken(store, 0):
        raise _lost_error(store, place.remains)
    elif place.foreign is not None:
        raise _foreign_error(store, place.foreign)
    elif isinstance(store, LocalStore) and not is_taken(store, 0):
        _refuse_shared_folder(store)


def first_epoch(
    *,
    lone_table: bool,
    clock_ms: Callable[[], int] = now_ms,
    engine: str | None = None,
    slot_block: int = SLOT_BLOCK,
) -> Epoch:
    """Return the epoch 0 of a new database, which `begin_log` stores. See `create_database`."""
    return Epoch(
        epoch=0,
        transaction=new_transaction_id(),
        base=0,
        time_ms=max(0, clock_ms()),
        operation="create_database",
        parameters=dict(present_author().signed({})),
        engine=engine or engine_name(),
        user=user_name(),
        ops=(
            CreateDatabase(database=new_table_id(), lone_table=lone_table, slot_block=slot_block),
        ),
    )


def begin_log(
    store: ObjectStore, first: Epoch, *, pause: Callable[[float], None] = time.sleep
) -> Snapshot:
    """Store the epoch 0 of a database at a place that was prepared, and return the state after it.

    Costs a PUT, and a listing of everything below the root. Raises as `create_database`.
    """
    found = take_slot(store, first, encode_epoch(first), pause)
    if found.transaction != first.transaction:
        raise AlreadyExistsError(
            f"{store.url} is a Colonnade database or table already; open it, or choose another"
            " path."
        )
    _look(store, "was just created and is")
    return apply_epoch(None, found)


class _PlaceListing(NamedTuple):
    """What one listing of a place has shown.

    `newest` is the number of the newest epoch, and `first` whether epoch 0 was there. `remains`
    names another part of a log, and `foreign` data of another format.
    """

    newest: int | None
    first: bool
    remains: str | None
    foreign: str | None


def _look(store: ObjectStore, status: str) -> _PlaceListing:
    """List the place once. Raises InvalidInputError that has `status` for a nested database."""
    for above in _folders_above(store.url) if isinstance(store, LocalStore) else ():
        # A folder without read permission is not an obstacle: no process reads a database there.
        if os.path.isfile(f"{above}/{epoch_name(0)}"):
            raise _nested_error(store, status, "inside", above)
    ending = f"/{epoch_name(0)}"
    newest, first = -1, False
    remains = foreign = None
    for name in (info.name for info in store.list("")):
        if name.endswith(ending):
            around = store.locate(name.removesuffix(ending))
            raise _nested_error(store, status, "around", around)
        number = epoch_number(name)
        if number is not None:
            newest, first = max(newest, number), first or number == 0
        elif name == HINT or name.startswith(FREED):
            remains = name
        elif foreign is None:
            foreign = _foreign_part(name)
    if isinstance(store, LocalStore):
        # A local listing leaves out what no store wrote.
        foreign = _foreign_name(store)
    return _PlaceListing(None if newest < 0 else newest, first, remains, foreign)


def _finish_drop(store: ObjectStore, place: _PlaceListing, lone_table: bool) -> None:
    """Remove the remains of a killed drop if the end of its log still exists.

    Files of other programs stay if the dropped database or the new one is that of a lone table.
    Raises CorruptionError if there are epochs of a log that did not end, because the new log would
    run into them, or if epoch 0 is damaged.
    """
    assert place.newest is not None
    newest = read_slot(store, place.newest)
    ended = newest is not None and any(isinstance(op, DropDatabase) for op in newest.ops)
    if ended and store.keeps_logs:
        remove_objects(store)
        raise used_place_error(store)
    if ended and (lone_table or _was_lone(store)):
        remove_lone_table(store)
    elif ended:
        move_away(store)
    elif not place.first and not is_taken(store, 0):
        raise _lost_error(store, epoch_name(place.newest))
    else:
        read_slot(store, 0)  # Where it is damaged, no epoch 0 can be put.


def _was_lone(store: ObjectStore) -> bool:
    """Return whether a log is that of a lone table; True if its epoch 0 is missing."""
    first = read_slot(store, 0)
    made = None if first is None else first.ops[0]
    return not isinstance(made, CreateDatabase) or made.lone_table


def _foreign_name(store: ObjectStore) -> str | None:
    return next(filter(None, map(_foreign_part, _names_near_root(store))), None)


def _foreign_part(name: str) -> str | None:
    """Return the part of a name below the root that another format has given, or None."""
    top = name.partition("/")[0]
    return top if _FOREIGN.fullmatch(top) else log_part(name)


def _names_near_root(store: ObjectStore) -> Iterator[str]:
    """Yield the names of what is directly below the root, or in a folder that may be a log."""
    if isinstance(store, LocalStore):
        return names_near(store.url)
    return (info.name for info in store.list(""))


def _refuse_shared_folder(store: LocalStore) -> None:
    """Refuse the home folder and the root folder, unless they are empty.

    Nobody means these folders, and vacuum and drop look through all that they have. Raises
    InvalidInputError; StoreError.
    """
    path = os.path.realpath(store.url)
    kinds = {os.path.realpath(os.path.expanduser("~")): "home", os.path.realpath("/"): "root"}
    kind, names = kinds.get(path), names_in(path) if path in kinds else ()
    if names:
        raise InvalidInputError(
            f"{store.url} is the {kind} folder and has other files, such as {names[0]}; give"
            f" Colonnade a folder of its own, such as {os.path.join(store.url, 'lake')}."
        )


def _foreign_error(store: ObjectStore, foreign: str) -> InvalidInputError:
    return InvalidInputError(
        f"{store.url} holds data of another format, such as {foreign}; give Colonnade a folder"
        " of its own, or move that data away first."
    )


def _lost_error(store: ObjectStore, left: str) -> CorruptionError:
    return CorruptionError(
        f"{store.locate(epoch_name(0))} is missing, although {left} exists: restore it, or remove"
        " the folder to give that database up."
    )


def _nested_error(store: ObjectStore, status: str, kind: str, other: str) -> InvalidInputError:
    return InvalidInputError(
        f"{store.url} {status} {kind} the Colonnade database {other}, and databases do not"
        " nest; choose another place for one of the two."
    )


def _folders_above(path: str) -> Iterator[str]:
    """Yield the folders above a path, as given and with links resolved."""
    for each in dict.fromkeys((path, os.path.realpath(path))):
        while (above := os.path.dirname(each)) != each:
            yield above
            each = above
