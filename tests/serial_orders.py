"""Statements that run side by side on a serializable table, and all orders of them one by one.

A step is one statement, alone or in a transaction that has read something first. Steps run nested:
each is evaluated on the same state, and commits right after those inside it. What the steps that
have committed leave must be what some order of them leaves where each begins after the one before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations
from typing import Any

import pyarrow as pa

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.tableformat.table.transaction.transaction import (
    ArrowTransaction,
    ArrowTransactionTable,
)
from colonnade.tableformat.write.settings import OnDuplicate
from tests.tableformat.statements.tables import another, made

Target = Any
"""A table, or a table in a transaction: both have the statements."""

SCHEMA = pa.schema(
    [
        *(pa.field(name, pa.int64(), nullable=False) for name in ("k", "p")),
        *((name, pa.int64()) for name in ("v", "w", "at")),
    ]
)
KEYS = (1, 2)

DESIGNS: Mapping[str, Mapping[str, Any]] = {
    "keyed": {"key": ("k",), "partition_by": ["p"]},
    "late": {"key": ("k",), "properties": {"sequence": "at"}},
    "sums": {"key": ("k",), "properties": {"merge.v": "add"}},
    "static": {"key": ("p", "k"), "static": ["w"]},
    "plain": {"sort_key": ["k"], "partition_by": ["p"]},
}
"""The tables that statements run on. Only the last one has no primary key."""

KEYED = ("keyed", "late", "sums", "static")


def rows(at: int, salt: int, *keys: int) -> pa.Table:
    """Rows with some keys, that no other step brings with the same values."""
    return pa.Table.from_pylist(
        [{"k": k, "p": k % 2, "v": salt + k, "w": 2 * salt + k, "at": at} for k in keys], SCHEMA
    )


@dataclass(frozen=True)
class Choice:
    """What a statement works with: two keys, a time, and a number that no other step has."""

    a: int
    b: int
    at: int
    salt: int

    @property
    def two(self) -> pa.Table:
        """Rows of both keys."""
        return rows(self.at, self.salt, *sorted({self.a, self.b}))

    @property
    def one(self) -> pa.Table:
        """A row of the first key."""
        return rows(self.at, self.salt, self.a)


def _append(on_duplicate: OnDuplicate) -> Callable[[Target, Choice], object]:
    settings = WriteSettings(on_duplicate=on_duplicate)
    return lambda t, c: t.append(c.two, settings=settings)


def _delete_keys(t: Target, c: Choice) -> object:
    late = ["at"] if "sequence" in t._state.properties else []
    key = ["p", "k"] if static_fields(t._state.schema) else ["k"]
    return t.delete_keys(c.two.select([*key, *late]))


def _merge(t: Target, c: Choice) -> object:
    """Change, delete and insert rows of both keys."""
    matched = t.merge(c.two, on="k").when_matched_delete(f"target.v < {c.at}")
    updated = matched.when_matched_update({"v": "target.v + source.v", "w": "source.w"})
    return updated.when_not_matched_insert_all().execute()


def _merge_by_source(t: Target, c: Choice) -> object:
    """Delete a row of the first key, and change all rows with other keys."""
    deleted = t.merge(c.one, on="k").when_matched_delete()
    return deleted.when_not_matched_by_source_update({"v": f"target.w + {c.salt}"}).execute()


STATEMENTS: Mapping[str, Callable[[Target, Choice], object]] = {
    "append": lambda t, c: t.append(c.one),
    "append ignore": _append("ignore"),
    "append merge": _append("merge"),
    "overwrite": lambda t, c: t.overwrite(c.one),
    "overwrite where": lambda t, c: t.overwrite(c.one, f"k = {c.a}"),
    "overwrite_partitions": lambda t, c: t.overwrite_partitions(c.one),
    "delete": lambda t, c: t.delete(f"k = {c.a} OR k = {c.b}"),
    "delete counted": lambda t, c: t.delete(f"v = {c.a} OR w = {c.b}", count_rows=True),
    "delete_range": lambda t, c: t.delete_range(f"k >= {c.a}"),
    "delete_keys": _delete_keys,
    "update": lambda t, c: t.update({"v": "w"}),
    "update other": lambda t, c: t.update({"w": "v"}, f"k = {c.a}"),
    "update key": lambda t, c: t.update({"k": c.b, "p": c.b % 2}, f"k = {c.a}"),
    "upsert": lambda t, c: t.upsert(c.two),
    "upsert some": lambda t, c: t.upsert(c.two.select(["k", "p", "v", "at"])),
    "upsert on": lambda t, c: t.upsert(c.one, on="w"),
    "merge": _merge,
    "merge by source": _merge_by_source,
    "update statics": lambda t, c: t.statics.update({"w": c.salt}, f"p = {c.a % 2}"),
    "update seen statics": lambda t, c: t.statics.update({"w": "w + 1"}, f"w > {c.at}"),
    "delete statics": lambda t, c: t.statics.delete(f"p = {c.a % 2}"),
}
"""Every statement that changes rows."""

METHODS = {name.split()[0] for name in STATEMENTS}

NEEDS = {
    "append ignore": KEYED,
    "append merge": KEYED,
    "delete_keys": KEYED,
    "upsert": KEYED,
    "upsert some": KEYED,
    "overwrite_partitions": ("keyed", "plain"),
    "merge": ("keyed", "late", "sums", "plain"),
    "merge by source": ("keyed", "late", "sums", "plain"),
    "update statics": ("static",),
    "update seen statics": ("static",),
    "delete statics": ("static",),
}
"""The tables of statements that not every table has."""

GUARDS: Mapping[str, Callable[[Target, Choice], bool]] = {
    "there": lambda t, c: t.scan(where=f"k = {c.b}").to_arrow().num_rows > 0,
    "not there": lambda t, c: t.scan(where=f"k = {c.b}").to_arrow().num_rows == 0,
    "less": lambda t, c: sum(t.scan(["v"]).to_arrow()["v"].to_pylist()) < 15,
    "another": lambda t, c: t.scan(where=f"w <> {c.salt + 1}").to_arrow().num_rows > 0,
    "refused": lambda t, c: _is_refused(t, c),
}
"""What a transaction may ask before its statement."""


def _is_refused(t: ArrowTransactionTable, c: Choice) -> bool:
    try:
        t.append(rows(c.at, c.salt + 7, c.b))
    except InvalidInputError:
        return True
    return False


@dataclass(frozen=True)
class Step:
    """One statement; with a guard, it is in a transaction that asks for it first."""

    kind: str
    choice: Choice
    guard: str | None = None
    in_transaction: bool = False

    def run(self, table: ArrowTable, inside: Callable[[], object] = lambda: None) -> bool:
        """Run it on a state, and `inside` right before it commits. Returns whether it committed."""
        try:
            if self.in_transaction:
                self._in_transaction(table, inside)
            else:
                self._alone(table, inside)
        except (ConflictError, InvalidInputError):
            return False
        return True

    def _in_transaction(self, table: ArrowTable, inside: Callable[[], object]) -> None:
        transaction = ArrowTransaction(table._log, table._snapshot)
        mine = transaction.table("t")
        try:
            if self.guard is None or GUARDS[self.guard](mine, self.choice):
                STATEMENTS[self.kind](mine, self.choice)
        finally:
            inside()
        transaction.commit()

    def _alone(self, table: ArrowTable, inside: Callable[[], object]) -> None:
        log, commit = table._log, table._log.commit_change
        waiting = [inside]

        def commit_change(change: Any, base: Any, **how: Any) -> Any:
            if waiting:
                waiting.pop()()
            return commit(change, base, **how)

        log.commit_change = commit_change  # type: ignore[method-assign]
        try:
            STATEMENTS[self.kind](table, self.choice)
        finally:
            log.commit_change = commit  # type: ignore[method-assign]
            if waiting:
                waiting.pop()()


@dataclass(frozen=True)
class Case:
    """Steps that run side by side on a table that has some keys; the last one commits last."""

    design: str
    keys: tuple[int, ...]
    steps: tuple[Step, ...]

    def table(self) -> ArrowTable:
        """A new table, whose keys are in RowSets of their own."""
        design = {**DESIGNS[self.design]}
        properties = {**design.pop("properties", {}), "isolation": "serializable"}
        table = made(schema=SCHEMA, properties=properties, **design)
        for key in self.keys:
            table.append(rows(5, 10, key))
        return table

    def side_by_side(self) -> tuple[tuple[Step, ...], list[list[str]]]:
        """Run the steps nested. Returns those that have committed, and the rows."""
        table, done = self.table(), []

        def run(left: Sequence[Step]) -> None:
            if left and left[-1].run(another(table), lambda: run(left[:-1])):
                done.append(left[-1])

        run(self.steps)
        return tuple(done), content(table)

    def orders(self, steps: tuple[Step, ...]) -> list[list[list[str]]]:
        """What each order of some steps leaves in which all of them commit."""
        orders = (_one_by_one(self.design, self.keys, each) for each in permutations(steps))
        return [left for left in orders if left is not None]

    def check(self) -> None:
        """Compare what is left with all serial orders."""
        done, left = self.side_by_side()
        assert left in self.orders(done), f"{self}: no order of {done} leaves {left}"


@cache
def _one_by_one(
    design: str, keys: tuple[int, ...], steps: tuple[Step, ...]
) -> list[list[str]] | None:
    table = Case(design, keys, steps).table()
    for step in steps:
        table.refresh()
        if not step.run(table):
            return None
    return content(table)


def content(table: ArrowTable) -> list[list[str]]:
    """All rows of the newest state, and those of its static values, in order."""
    table.refresh()
    statics = [table.statics] if static_fields(table._state.schema) else []
    return [sorted(map(repr, each.scan().to_arrow().to_pylist())) for each in (table, *statics)]


def random_step(rng: random.Random, kind: str, salt: int) -> Step:
    """A step of a kind with random keys; most steps ask for something first."""
    choice = Choice(rng.choice(KEYS), rng.choice(KEYS), rng.choice((4, 6)), salt)
    guard = rng.choice((None, None, *GUARDS))
    return Step(kind, choice, guard, in_transaction=guard is not None or rng.random() < 0.3)


def random_case(rng: random.Random, kinds: Sequence[str]) -> Case | None:
    """A case of steps of these kinds; None if no table has them all."""
    designs = [name for name in DESIGNS if all(name in NEEDS.get(k, DESIGNS) for k in kinds)]
    if not designs:
        return None
    keys = tuple(key for key in KEYS if rng.random() < 0.6)
    steps = tuple(random_step(rng, kind, 100 * (i + 1)) for i, kind in enumerate(kinds))
    return Case(rng.choice(designs), keys, steps)


def statements_of_the_api() -> set[str]:
    """The public methods of tables that change rows."""
    both = {*dir(ArrowTable)} & {*vars(ArrowTransactionTable)}
    reads = {"name", "schema", "scan", "statics"}
    return {name for name in both if not name.startswith("_")} - reads
