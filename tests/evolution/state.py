"""The state of a table at an epoch: its columns, its rows, and the rules that they keep.

Rows are values by the keys of columns, which stay the same under every name, place and type.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from colonnade.manifests.model.schema import IdentityColumn
from tests.evolution.columns import Column, Generated

Row = Mapping[int, Any]


@dataclass(frozen=True)
class Check:
    """A constraint: a column of a number type is at least `least`, or NULL."""

    column: int
    least: int

    def admits(self, row: Row) -> bool:
        """Return whether a row meets the constraint."""
        value = row.get(self.column)
        return value is None or value >= self.least


@dataclass(frozen=True)
class State:
    """A table at an epoch. `table` is another number after `CREATE OR REPLACE`.

    `key` and `layout` have the keys of the columns that rows are sorted and partitioned by.
    """

    columns: tuple[Column, ...]
    rows: tuple[Row, ...] = ()
    checks: Mapping[str, Check] = field(default_factory=dict)
    key: tuple[int, ...] = ()
    layout: tuple[int, ...] = ()
    table: int = 1

    def with_rows(self, rows: Iterable[Row]) -> State:
        """Return the table with other rows."""
        return replace(self, rows=tuple(rows))

    def with_columns(self, columns: Iterable[Column]) -> State:
        """Return the table with other columns."""
        return replace(self, columns=tuple(columns))

    def exchanged(self, old: Column, *new: Column) -> State:
        """Return the table with other columns in the place of one; none drop it."""
        at = self.columns.index(old)
        return self.with_columns((*self.columns[:at], *new, *self.columns[at + 1 :]))

    @property
    def others(self) -> tuple[Column, ...]:
        """All columns but `k`."""
        return tuple(c for c in self.columns if c.key)

    @property
    def identity(self) -> Column | None:
        """The column whose values the table gives, if it has one."""
        found = (c for c in self.columns if isinstance(c.rule, IdentityColumn))
        return next(found, None)

    def filled(self, row: Row) -> Row:
        """Return a row with the values of the generated columns."""
        rules = {c.key: c.rule for c in self.columns if isinstance(c.rule, Generated)}
        return {**row, **{key: rule.of(row) for key, rule in rules.items()}} if rules else row

    def is_source(self, column: Column) -> bool:
        """Return whether a generated column reads a column."""
        rules = (c.rule for c in self.columns)
        return any(isinstance(r, Generated) and r.source == column.key for r in rules)

    def is_checked(self, column: Column) -> bool:
        """Return whether a constraint reads a column."""
        return any(check.column == column.key for check in self.checks.values())

    def is_placing(self, column: Column) -> bool:
        """Return whether a column decides where rows are stored."""
        return column.key in (*self.key, *self.layout)

    def keeps_rules(self) -> bool:
        """Return whether every row meets the constraints, and has a value where it must."""
        needed = [c.key for c in self.columns if not c.nullable and c.rule is None]
        return all(
            all(row.get(key) is not None for key in needed)
            and all(check.admits(row) for check in self.checks.values())
            for row in self.rows
        )
