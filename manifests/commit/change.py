"""What a writer wants committed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyroaring import AbstractBitMap

from colonnade.manifests.arrays.bounds import Keep
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import Operation, RowKind
from colonnade.manifests.state.snapshot import LiveRowSet


@dataclass(frozen=True, slots=True)
class RowsGone:
    """A statement of some kind takes rows from a RowSet, found at the change's base.

    A fact that adds up with those of others, and not yet an operation: at the slot it becomes a
    deletion vector of the RowSet as it is then, or of those that it was compacted into. `rows` are
    row numbers as stored; None: all that the RowSet still has. Of an update or a merge, the change
    also adds what the rows became.
    """

    table: str
    rowset: LiveRowSet
    kind: RowKind
    rows: AbstractBitMap | None


@dataclass(frozen=True, slots=True)
class TableRead:
    """What a statement has read of a table, or replaces in it: rows that `keep` may leave.

    None: all rows, and for `columns` (ids) all columns. With `replaces` rows of others that came
    since are a conflict in every isolation level, else only in `serializable`.
    """

    table: str
    keep: Keep | None = None
    columns: frozenset[int] | None = None
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class KeyGuard:
    """Keys that a change inserts into a table because they were not there at its base.

    `meets` says which of RowSets that others added since have one of them, by reading if need be.
    """

    table: str
    meets: Callable[[Sequence[RowSetEntry]], Sequence[RowSetEntry]]


@dataclass(frozen=True, slots=True)
class Change:
    """Operations, and rows that go, that become one epoch, or none of them does.

    `transaction` is made once (`ids.new_transaction_id`) and repeated whenever the change is sent
    again, also by another process: that is how it lands once. `operation`, `parameters` and
    `metrics` say to people what was done. A change that replaces a table's rows carries a
    `DropRowSet` without a kind for it, with no ranges when there was nothing to drop: that is what
    tells it from an append. With `expect_epoch` it becomes the epoch after that one or none. The
    names of objects that are written on the way begin with `job`; `listed` are those that its
    operations name through segments. `earlier_parts` are the transactions of epochs that the same
    work has committed before; all its parts have the base that the whole was planned on. `carried`
    are batches, by table and application, that a table which is made again had before: they are
    not this change's own, and say nothing of whether it has landed. A `fresh` change was never
    sent before: its transaction id was made for this commit alone.
    """

    transaction: str
    operation: str
    ops: tuple[Operation, ...]
    parameters: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[RowsGone, ...] = ()
    reads: tuple[TableRead, ...] = ()
    keys: tuple[KeyGuard, ...] = ()
    metrics: Mapping[str, int] = field(default_factory=dict)
    expect_epoch: int | None = None
    job: str | None = None
    listed: frozenset[str] = frozenset()
    fresh: bool = False
    earlier_parts: frozenset[str] = frozenset()
    carried: frozenset[tuple[str, str]] = frozenset()
