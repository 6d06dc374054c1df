"""What consumers have made of the changes that they were told, in transactions that landed.

Each consumer keeps a copy of its table. A change that it has missed, or was told twice, shows in
the copy at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import DropConsumer, SetConsumer
from tests.simulation.feeds import Change, Seen, applied, by_epoch, seen_of

if TYPE_CHECKING:
    from tests.simulation.oracle import Oracle


@dataclass
class Copy:
    """What a consumer has made of its table up to an epoch."""

    table: str
    seen: int
    rows: Seen


@dataclass
class Consumers:
    """All consumers, and what running transactions were told, by the names of their intents.

    `moves` counts transactions that moved a consumer.
    """

    copies: dict[str, Copy] = field(default_factory=dict)
    told: dict[str, Sequence[Change]] = field(default_factory=dict)
    moves: int = 0

    def land(self, oracle: Oracle, epoch: Epoch, intent: str | None) -> None:
        """Follow an epoch that appeared. Raises AssertionError for a lost or doubled change."""
        told = None if intent is None else self.told.pop(intent, None)
        moved = [op for op in epoch.ops if isinstance(op, SetConsumer)]
        for op in epoch.ops:
            if isinstance(op, DropConsumer):
                del self.copies[op.name]
        for op in moved:
            if told is not None:
                self._move(oracle, op, told)
            elif epoch.operation == "set_consumer":
                self._begin(oracle, op)
            else:
                assert self.copies[op.name].seen == op.seen, f"{op.name} was moved by nobody"
        assert moved or not told, f"{intent} was told changes and has moved no consumer"

    def _begin(self, oracle: Oracle, op: SetConsumer) -> None:
        """A consumer is new or was reset: it has a copy of its table at that epoch."""
        table = oracle.names[op.source]
        columns = oracle.columns[op.seen].get(table)
        there = columns is not None and columns.table == op.source
        rows = oracle.states[op.seen][table] if there else {}
        self.copies[op.name] = Copy(table, op.seen, seen_of(table, rows))

    def _move(self, oracle: Oracle, op: SetConsumer, told: Sequence[Change]) -> None:
        known = self.copies[op.name]
        rows = known.rows
        for epoch, changes in by_epoch(told):
            rows = applied(known.table, rows, changes)
            assert known.seen < epoch <= op.seen, f"{op.name} was told of epoch {epoch} too late"
        want = seen_of(known.table, oracle.states[op.seen][known.table])
        assert rows == want, f"{op.name} has {rows} up to epoch {op.seen}, and not {want}"
        self.copies[op.name] = Copy(known.table, op.seen, rows)
        self.moves += 1
