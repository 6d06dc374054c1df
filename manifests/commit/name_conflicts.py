"""Compare the names that a change gives or removes with the newest state: tables, tags, pins. Pure.

Spec: docs/spec/conflicts.md#tables-and-columns, #other-conditions
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from colonnade.manifests.commit.outcome import not_sent
from colonnade.manifests.errors import AlreadyExistsError, ConflictError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.operations import (
    CreateTable,
    DropConsumer,
    DropTable,
    Lease,
    Operation,
    Pin,
    RenameTable,
    Restore,
    SetConsumer,
    Tag,
    Unpin,
    Untag,
)
from colonnade.manifests.state.snapshot import Snapshot


def check_names(operations: Sequence[Operation], base: Snapshot, head: Snapshot) -> None:
    """Check the names of tables that a change gives, against the head.

    Raises AlreadyExistsError for a name that is in use, and for a second table of a database of one
    table. Raises ConflictError for a dropped table that a concurrent writer has made again, and for
    a name that differs by case alone from one that a concurrent writer has given.
    """
    if not any(isinstance(op, CreateTable | RenameTable) for op in operations):
        return
    names, known = dict(head.table_names()), base.table_names()
    meanwhile = {name.casefold(): name for key, name in names.items() if known.get(key) != name}
    for operation in operations:
        if isinstance(operation, CreateTable | RenameTable):
            _check_case(operation.name, meanwhile)
        if isinstance(operation, DropTable):
            names.pop(TableId(operation.table), None)
        elif isinstance(operation, CreateTable):
            other = names.get(TableId(operation.table))
            if other is not None and operation.table not in base.tables:
                raise ConflictError(
                    f"Table {operation.name!r} was made again meanwhile, as {other!r}; look at it"
                    " before you repeat this."
                )
            if operation.name in names.values():
                raise AlreadyExistsError(
                    f"Table {operation.name!r} exists already; choose another name or open it."
                )
            if head.lone_table and names and operation.statics_of is None:
                raise AlreadyExistsError(
                    f"Table {operation.name!r} cannot be created: this database holds the lone"
                    f" table {next(iter(names.values()))!r} and no other."
                )
            names[TableId(operation.table)] = operation.name
        elif isinstance(operation, RenameTable):
            others = {name for table, name in names.items() if table != operation.table}
            if operation.name in others:
                raise AlreadyExistsError(
                    f"Table {operation.name!r} exists already; choose another name."
                )
            names[TableId(operation.table)] = operation.name


def _check_case(name: str, meanwhile: Mapping[str, str]) -> None:
    other = meanwhile.get(name.casefold(), name)
    if other != name:
        raise ConflictError(
            f"Table {other!r} was created meanwhile, and {name!r} differs from it by case alone;"
            " choose another name, or repeat this to have both."
        )


def check_kept(
    operations: Iterable[Operation], head: Snapshot, keeps: Callable[[Snapshot, int], bool]
) -> None:
    """Check tags, pins, leases, consumers and restores against the head.

    Raises AlreadyExistsError for a tag or a new consumer that exists, or a pin of another epoch.
    Raises NotFoundError for a tag, pin or consumer that does not exist, and for an epoch that is
    removed or does not exist. Raises ConflictError for a lease of an epoch that is removed, because
    a job was planned on it, and for a consumer that has read other epochs meanwhile. The end of a
    lease is always accepted.
    """
    for operation in operations:
        if isinstance(operation, Tag | Pin | Restore) and not keeps(head, operation.epoch):
            raise NotFoundError(
                f"Epoch {operation.epoch} cannot be kept or restored: the epochs that can be read"
                f" are {head.floor} to {head.epoch}."
            )
        match operation:
            case Lease() if operation.until_ms and operation.epoch < head.floor:
                raise not_sent(
                    f"Epoch {operation.epoch} was removed by retention: no job leases it;"
                )
            case Tag() if operation.name in head.tags:
                raise AlreadyExistsError(
                    f"Tag {operation.name!r} exists already, for epoch {head.tags[operation.name]};"
                    " choose another name or remove it."
                )
            case Pin() if (pin := head.pins.get(operation.name)) and pin.epoch != operation.epoch:
                raise AlreadyExistsError(
                    f"Pin {operation.name!r} exists already, for epoch {pin.epoch}; choose another"
                    " name or remove it."
                )
            case SetConsumer():
                _check_consumer(operation, head)
            case DropConsumer() if operation.name not in head.consumers:
                raise no_consumer(operation.name, head)
            case Untag() if operation.name not in head.tags:
                raise NotFoundError(f"Tag {operation.name!r} does not exist.")
            case Unpin() if operation.name not in head.pins:
                raise NotFoundError(f"Pin {operation.name!r} does not exist.")


def _check_consumer(operation: SetConsumer, head: Snapshot) -> None:
    """Refuse a consumer that has another position at the head than the change was planned on."""
    name, known = operation.name, head.consumers.get(operation.name)
    if operation.until_ms and operation.seen < head.floor:
        raise NotFoundError(
            f"Consumer {name!r} cannot go on after epoch {operation.seen}, which retention has"
            f" removed; the oldest epoch is {head.floor}."
        )
    if operation.before is None:
        if known is not None:
            raise AlreadyExistsError(
                f"Consumer {name!r} exists already, and has read up to epoch {known.seen}; reset"
                " it, or choose another name."
            )
    elif known is None:
        raise ConflictError(f"Consumer {name!r} was removed meanwhile; nothing was committed.")
    elif known.seen != operation.before:
        raise ConflictError(
            f"Consumer {name!r} has read up to epoch {known.seen} meanwhile, in another process;"
            " nothing was committed. Run it again, and it goes on there."
        )


def no_consumer(name: str, state: Snapshot) -> NotFoundError:
    """Return the error for a consumer that does not exist."""
    known = ", ".join(sorted(state.consumers)) or "none yet"
    return NotFoundError(f"Consumer {name!r} does not exist; the consumers are: {known}.")
