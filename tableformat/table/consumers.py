"""Consumers: the database stores how far a program has read the changes of a table.

A transaction reads the changes that its consumer has not read. Its own epoch moves the consumer:

    with database.transaction() as tx:
        for row in tx.changes("orders", consumer="gold"):  # the changes that gold has not read
            ...
        tx.table("totals").upsert(totals)
                                                           # both are committed, or neither

Spec: docs/spec/feed.md#consumers
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.clock import moment
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.name_conflicts import no_consumer
from colonnade.manifests.durations import duration_text, parse_duration
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.operations import DropConsumer, SetConsumer
from colonnade.manifests.public import public
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.table.epochs.epoch_range import Bound, epoch_range
from colonnade.tableformat.table.epochs.tags_and_pins import checked_name


@public
@dataclass(frozen=True, slots=True)
class Consumer:
    """How far a consumer has read the changes of a table.

    `table` is the name of the table; None after the table was dropped. `epoch` is the last epoch
    whose changes it has read, and `lag` the number of later epochs. A vacuum keeps the later epochs
    `until` a time in UTC, which each commit of the consumer renews. None means that it may remove
    them.
    """

    name: str
    table: str | None
    epoch: int
    lag: int
    until: datetime | None


def consumers_of(state: Snapshot) -> list[Consumer]:
    """Return all consumers of a database, by name."""
    names = state.table_names()
    return [
        Consumer(
            each.name,
            names.get(TableId(each.source)),
            each.seen,
            state.epoch - each.seen,
            moment(each.until_ms) if each.until_ms else None,
        )
        for _, each in sorted(state.consumers.items())
    ]


def create_consumer(
    log: Log, base: Snapshot, name: str, table: TableState, start: Bound | None, keep: str
) -> Snapshot:
    """Create a consumer whose first changes are those of `start` (None: of the next epoch).

    Raises AlreadyExistsError for a name that is in use, InvalidInputError for an invalid name or
    time, and the errors of `epoch_range`.
    """
    checked_name(name, "consumer")
    operation = SetConsumer(
        name=name,
        source=table.id,
        seen=_position(log, base, table, start),
        until_ms=0,
        keep_ms=_keep_ms(keep),
    )
    return _commit(log, base, _renewed(log, base, operation))


def reset_consumer(log: Log, base: Snapshot, name: str, start: Bound | None) -> Snapshot:
    """Let a consumer go on with the changes of `start` (None: of the next epoch).

    Raises as `create_consumer`; NotFoundError for an unknown consumer or after its table was
    dropped.
    """
    known = _known(base, name)
    table = base.tables.get(TableId(known.source))
    if table is None:
        raise NotFoundError(
            f"The table of consumer {name!r} was dropped; drop the consumer, and create one for"
            " another table."
        )
    seen = _position(log, base, table, start)
    operation = known.model_copy(update={"seen": seen, "before": known.seen})
    return _commit(log, base, _renewed(log, base, operation))


def drop_consumer(log: Log, base: Snapshot, name: str) -> Snapshot:
    """Remove a consumer. Raises NotFoundError for an unknown one."""
    _known(base, name)
    return _commit(log, base, DropConsumer(name=name))


def first_unread(base: Snapshot, table: TableState, name: str) -> int:
    """Return the first epoch whose changes of a table a consumer has not read. Pure.

    It is the next epoch if the consumer has read all. Raises InvalidInputError for a consumer of
    another table. Raises NotFoundError for an unknown consumer, and for one whose changes were
    removed, because it was not used in time.
    """
    known = _known(base, name)
    if known.source != table.id:
        owner = base.table_names().get(TableId(known.source))
        of = "a table that was dropped" if owner is None else f"table {owner!r}"
        raise InvalidInputError(
            f"Consumer {name!r} reads the changes of {of}, and not of table {table.name!r}; create"
            " another consumer for this table."
        )
    first = known.seen + 1
    if first <= base.floor or first < table.created_epoch:
        reason = "the table was made again after it"
        if first <= base.floor:
            reason = f"they were kept for {duration_text(known.keep_ms // 1000)}, and then removed"
        raise NotFoundError(
            f"Consumer {name!r} of table {table.name!r} has read up to epoch {known.seen}, and the"
            f" changes after it cannot be read: {reason}. Reset it to a later epoch."
        )
    return first


def moved_to(log: Log, base: Snapshot, table: TableState, name: str) -> SetConsumer | None:
    """Return the operation that moves a consumer of a table to a state, with its time renewed.

    None if there is nothing to move and nothing to renew: neither the table nor its static values
    have changed since, and more than half of the consumer's time is left. Raises NotFoundError for
    an unknown consumer.
    """
    known = _known(base, name)
    left = known.until_ms - log.reader.query_ms(base)
    changed = table.changed_epoch
    if table.statics is not None:
        changed = max(changed, table.statics.changed_epoch)
    if changed <= known.seen and left > known.keep_ms // 2:
        return None
    moved = known.model_copy(update={"seen": base.epoch, "before": known.seen})
    return _renewed(log, base, moved)


def _known(state: Snapshot, name: str) -> SetConsumer:
    checked_name(name, "consumer")
    found = state.consumers.get(name)
    if found is None:
        raise no_consumer(name, state)
    return found


def _position(log: Log, base: Snapshot, table: TableState, start: Bound | None) -> int:
    """Return the last epoch before the changes of `start`."""
    if start is None:
        return base.epoch
    return epoch_range(log, base, table, start, None).first - 1


def _renewed(log: Log, base: Snapshot, operation: SetConsumer) -> SetConsumer:
    """Return the operation with the time that a consumer has from now on."""
    until = log.agreement.time(base).present_ms + operation.keep_ms
    return operation.model_copy(update={"until_ms": until})


def _keep_ms(text: str) -> int:
    try:
        return parse_duration(text) * 1000
    except (ValueError, AttributeError) as error:
        raise InvalidInputError(
            f"A consumer keeps epochs for a time such as '7 days' or '12 hours', not {text!r}."
        ) from error


def _commit(log: Log, base: Snapshot, operation: SetConsumer | DropConsumer) -> Snapshot:
    shown = {"consumer": operation.name}
    change = Change(new_transaction_id(), operation.op, (operation,), shown, fresh=True)
    return log.commit(change, base)
