"""A statement on a table with a primary key, as a value.

Rows of one key meet in the order of their epochs, whatever their writers had seen.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from colonnade import ArrowTable
from colonnade.tableformat.table.transaction.transaction import ArrowTransactionTable
from colonnade.tableformat.write.settings import CommitSettings, OnDuplicate, WriteSettings
from tests.simulation.keyed.history import KeyFacts
from tests.simulation.keyed.rows import (
    DATED,
    SCHEMA,
    TABLES,
    as_row,
    cells,
    group,
    is_older,
    key_of,
    merged,
)
from tests.simulation.rows import Row, Rows
from tests.simulation.statements import Step


@dataclass(frozen=True)
class Rivals:
    """What happened to a table from the base of a statement up to its slot.

    `states` are the rows before each epoch of that time. `there` reads the ids of the rows after
    the statement. `deleted` has the newest deletion of each key that the table remembers.
    """

    base: KeyFacts
    head: KeyFacts
    states: Sequence[Rows]
    there: Callable[[], Collection[int]]
    deleted: Mapping[int, int]


@dataclass(frozen=True)
class KeyedStep(Step):
    """One statement on one keyed table.

    `keys` has the key of each of its rows, or the keys to delete, in `DATED` at the time `at`. Its
    rows have the columns `given` beside their id and key. `on_duplicate` is the option of the
    write; None: as the table says. A `rekey` gives the rows `where` the key `value`. A `merge`
    replaces rows by their ids. A `delete_range` deletes what its first and last key, and the keys
    between them, have in the first column of the primary key.
    """

    keys: tuple[int, ...] = ()
    on_duplicate: OnDuplicate | None = None
    rivals: Rivals | None = None
    at: int | None = None
    by_bounds: bool = False

    def decided_by_bounds(self) -> KeyedStep:
        """Return this deletion of a range as one of whole RowSets of its base."""
        return replace(self, by_bounds=True)

    def beside(self, rivals: Rivals) -> KeyedStep:
        """Return this step with what happened to its table meanwhile."""
        return replace(self, rivals=rivals)

    def cells(self) -> list[dict[str, Any]]:
        """The values of its rows, in order of arrival."""
        names = {"id", "g", "k", *self.given}
        every = [
            cells(row, v, k, self.salt) for (row, v), k in zip(self.rows, self.keys, strict=True)
        ]
        return [{name: each[name] for name in each if name in names} for each in every]

    def batch(self, schema: pa.Schema | None = None) -> pa.Table:
        """Its rows with the columns that they have."""
        names = {"id", "g", "k", *self.given}
        columns = pa.schema([each for each in SCHEMA if each.name in names])
        return pa.Table.from_pylist(self.cells(), columns)

    def key_batch(self) -> pa.Table:
        """The keys to delete."""
        key, _ = TABLES[self.table]
        names = [*key, *(["at"] if self.table == DATED else [])]
        every = [{"g": group(k), "k": k, "at": self.at} for k in self.keys]
        return pa.Table.from_pylist(every, pa.schema([SCHEMA.field(name) for name in names]))

    def ask(self, table: ArrowTable, commit: CommitSettings) -> int | None:
        """Ask a table for it; returns the epoch that it was told."""
        settings = WriteSettings(on_duplicate=self.on_duplicate)
        match self.kind:
            case "append":
                return table.append(self.batch(), settings=settings, commit=commit)
            case "overwrite":
                return table.overwrite(self.batch(), settings=settings, commit=commit)
            case "replace":
                where = self.where.sql()
                return table.overwrite(self.batch(), where, settings=settings, commit=commit)
            case "upsert":
                return table.upsert(self.batch(), commit=commit).epoch
            case "merge":
                return table.upsert(self.batch(), "id", commit=commit).epoch
            case "delete_keys":
                return table.delete_keys(self.key_batch(), commit=commit).epoch
            case "delete_range":
                return table.delete_range(self._range(), commit=commit).epoch
            case "rekey":
                return table.update(self._key(), self.where.sql(), commit=commit).epoch
        return super().ask(table, commit)

    def _ask_table(self, table: ArrowTransactionTable) -> None:
        settings = WriteSettings(on_duplicate=self.on_duplicate)
        match self.kind:
            case "append":
                table.append(self.batch(), settings=settings)
            case "replace":
                table.overwrite(self.batch(), self.where.sql(), settings=settings)
            case "upsert":
                table.upsert(self.batch())
            case "merge":
                table.upsert(self.batch(), "id")
            case "delete_keys":
                table.delete_keys(self.key_batch())
            case "rekey":
                table.update(self._key(), self.where.sql())
            case _:
                super()._ask_table(table)

    def _range(self) -> str:
        low, high = self.keys
        if TABLES[self.table][0][0] == "g":
            return f"g = '{group(low)}'"
        return f"k >= {low} AND k <= {high}"

    def _is_inside(self, row: Row) -> bool:
        """Whether a row is in the range of a `delete_range`."""
        low, high = self.keys
        if TABLES[self.table][0][0] == "g":
            return group(key_of(row)) == group(low)
        return low <= key_of(row) <= high

    def _key(self) -> dict[str, Any]:
        return {"k": self.value, "g": f"'{group(self.value)}'"}

    def after(
        self, base: Rows, head: Rows, then: Rows, epoch: int, *, serializable: bool
    ) -> dict[int, Row]:
        """What it makes of `head` in an epoch, evaluated on `base`.

        Raises AssertionError where it should have run again, or have been refused.
        """
        match self.kind:
            case "append" | "upsert":
                assert head.keys().isdisjoint(dict(self.rows)), "rows landed twice"
                return self._added(head, epoch, frozenset(), sure=base is head)
            case "overwrite":
                assert head == base, "overwrite lost what came after its base"
                return self._added({}, epoch, head.keys(), sure=True)
            case "merge":
                new = {each["id"]: each for each in self.cells()}
                born = {row: head[row].born if row in head else epoch for row in new}
                return {**head, **{row: as_row(new[row], born[row], epoch) for row in new}}
            case "delete_keys" if self.table == DATED:
                # A rival's row with one of the keys makes it run again.
                return {i: row for i, row in head.items() if not self._kills(row)}
            case "delete_keys":
                mine, there = (
                    {i for i, row in rows.items() if key_of(row) in self.keys}
                    for rows in (base, head)
                )
                assert mine == there or not serializable, "delete_keys is not as if it ran alone"
                met = self._met(mine, base, head)
                return {i: row for i, row in head.items() if i not in met}
            case "delete_range" if self.by_bounds:
                inside = {i for i, row in base.items() if self._is_inside(row)}
                met = self._met(inside, base, head)
                return {i: row for i, row in head.items() if i not in met}
            case "delete_range":
                return {i: row for i, row in head.items() if not self._is_inside(row)}
            case "rekey":
                met = self._met(self.where.of(base), base, head)
                return {**head, **{i: self._moved(head[i], epoch) for i in met}}
            case "replace":
                chosen, now = self.where.of(base), self.where.of(head)
                assert chosen == now, "replace is not as if it had run alone"
                kept = {i: row for i, row in head.items() if i not in chosen}
                return self._added(kept, epoch, chosen.keys(), sure=base is head)
        return super().after(base, head, then, epoch, serializable=serializable)

    def _kills(self, row: Row) -> bool:
        """Whether a row has one of the keys, and is not newer than their deletion."""
        return key_of(row) in self.keys and not is_older(self.at, row.rest[1])

    def _met(self, chosen: Collection[int], base: Rows, head: Rows) -> set[int]:
        """Return the chosen rows that are still there. None of them may have got another key."""
        met = {i for i in chosen if i in head and head[i].born == base[i].born}
        moved = [i for i in met if key_of(head[i]) != key_of(base[i])]
        assert not moved, f"{self.kind} of rows that had got another key"
        return met

    def _moved(self, row: Row, epoch: int) -> Row:
        return row._replace(written=epoch, rest=(self.value, *row.rest[1:]))

    def _added(
        self, kept: Rows, epoch: int, gone: Collection[int], *, sure: bool
    ) -> dict[int, Row]:
        """The rows that are kept, and those that it adds to them. Rows `gone` are not kept.

        If it is `sure`, no rival came between.
        """
        rivals, given = self.rivals, self.cells()
        assert rivals is not None
        new = {each["id"]: as_row(each, epoch, epoch) for each in given}
        if not rivals.base.key:
            assert not rivals.head.key, "rows landed that were not compared by the key"
            return {**kept, **new}
        policy = self.on_duplicate or rivals.base.on_duplicate
        if self.kind == "upsert" or policy == "merge":
            assert rivals.head == rivals.base, "rows were merged as the table said before"
            # After an overwrite of all rows, nothing is left to compare.
            deleted = {} if self.kind == "overwrite" else rivals.deleted
            new_enough = [
                each for each in given if not is_older(each.get("at"), deleted.get(each["k"]))
            ]
            return merged(kept, new_enough, rivals.head.named, epoch)
        taken = set(map(key_of, kept.values())) if rivals.head.key else set[int]()
        if policy == "error":
            own = [key_of(row) for row in new.values()]
            assert len({*own, *taken}) == len(own) + len(taken), "rows landed whose key was taken"
            return {**kept, **new}
        is_same = sure and rivals.base.key == rivals.head.key
        return {**kept, **self._left(new, taken, gone, sure=is_same)}

    def _left(
        self, new: Rows, taken: set[int], gone: Collection[int], *, sure: bool
    ) -> dict[int, Row]:
        """The rows that stay where a key that is taken is ignored.

        A row that was left out once stays out, also if its rival is deleted before the slot.
        """
        assert self.rivals is not None
        firsts: dict[int, int] = {}
        for row, it in new.items():
            firsts.setdefault(key_of(it), row)
        doubtful = {
            key_of(it) for rows in self.rivals.states for i, it in rows.items() if i not in gone
        }
        left = dict[int, Row]()
        for k, row in firsts.items():
            open_case = k in doubtful and not sure
            if k not in taken and (not open_case or row in self.rivals.there()):
                left[row] = new[row]
        return left
