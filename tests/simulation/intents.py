"""What a writer wants, as a value: one statement, or several in a transaction.

It travels in the note of its epoch, so a reader of the log knows what every epoch must have done.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.settings import CommitSettings
from tests.simulation.keyed.statements import KeyedStep, Rivals
from tests.simulation.rows import Condition, Shape, State
from tests.simulation.statements import Step


@dataclass(frozen=True)
class Intent:
    """One commit that a writer wants: a step, or several in one transaction."""

    name: str
    steps: tuple[Step, ...]
    batch: tuple[str, int] | None = None
    expect_epoch: int | None = None

    def ask(self, database: ArrowDatabase) -> int | None:
        """Ask a database for it; returns the epoch that it was told."""
        commit = CommitSettings(
            batch=self.batch, expect_epoch=self.expect_epoch, metadata=self.note()
        )
        first = self.steps[0]
        if first.kind == "restore_all":
            return database.restore(epoch=first.epoch, commit=commit)
        if len(self.steps) == 1 and first.kind not in ("create", "drop"):
            return first.ask(database.table(first.table), commit)
        with database.transaction(commit=commit) as tx:
            for step in self.steps:
                step.ask_within(tx)
            return tx.commit()

    def note(self) -> str:
        """The text that history keeps."""
        return json.dumps(asdict(self))

    def on_layouts(self, widths: Mapping[str, int]) -> Intent:
        """Return this statement for tables with partitions of these widths."""
        return replace(
            self, steps=tuple(step.on_layout(widths.get(step.table, 0)) for step in self.steps)
        )

    def by_tombstones(self, tables: Collection[str]) -> Intent:
        """Return this statement, whose epoch has range tombstones of these tables alone.

        Where bounds decided a range for whole RowSets, it has deleted the rows of its base.
        """
        return replace(
            self,
            steps=tuple(
                step.decided_by_bounds()
                if step.kind == "delete_range" and step.table not in tables
                else step
                for step in self.steps
            ),
        )

    def beside(self, rivals: Callable[[str], Rivals]) -> Intent:
        """Return this statement with what rivals did to its keyed tables meanwhile, by name."""
        return replace(
            self,
            steps=tuple(
                step.beside(rivals(step.table)) if isinstance(step, KeyedStep) else step
                for step in self.steps
            ),
        )

    def after(
        self, base: State, head: State, then: State, epoch: int, serializable: frozenset[str]
    ) -> State:
        """What it makes of all tables: see `Step.after`."""
        if self.steps[0].kind == "restore_all":
            return then
        dropped = {step.table for step in self.steps if step.kind == "drop"}
        for step in self.steps:
            if step.kind != "drop" and step.table in dropped:
                continue
            name, alone = step.table, step.table in serializable
            if step.kind == "create":
                base, head = ({**each, name: step.written({}, epoch)} for each in (base, head))
            elif step.kind == "drop":
                base, head = (
                    {key: rows for key, rows in each.items() if key != name}
                    for each in (base, head)
                )
            else:
                old, back = base[name], then.get(name, {})
                if name not in head:
                    seen = step.after(old, old, back, epoch, serializable=alone)
                    assert seen == old, "a table was changed after it was dropped"
                    continue
                after = step.after(old, head[name], back, epoch, serializable=alone)
                seen = step.after(old, old, back, epoch, serializable=alone)
                base, head = {**base, name: seen}, {**head, name: after}
        return head


def parse_intent(note: str) -> Intent:
    """The intent of a note."""
    fields: dict[str, Any] = json.loads(note)
    batch_id = fields["batch"]
    return Intent(
        fields["name"],
        tuple(map(_step, fields["steps"])),
        None if batch_id is None else (batch_id[0], batch_id[1]),
        fields["expect_epoch"],
    )


def _step(fields: dict[str, Any]) -> Step:
    parsed = {
        **fields,
        "rows": tuple((row, v) for row, v in fields["rows"]),
        "where": Condition(fields["where"]["test"], tuple(fields["where"]["values"])),
        "given": tuple(fields["given"]),
        "made": tuple(fields["made"]),
        "shape": Shape(**fields["shape"]),
    }
    if "keys" in fields:
        return KeyedStep(**{**parsed, "keys": tuple(fields["keys"])})
    return Step(**parsed)
