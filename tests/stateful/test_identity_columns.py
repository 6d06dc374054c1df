"""No value of an identity column is given twice, whatever writers do side by side.

Each new row has a text that no other row has. When an epoch has a text that no earlier epoch had,
and the table gave its row a value, no row of any earlier epoch may have had that value. Planted
mistakes show that the search finds one that is given twice.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

from colonnade import ArrowTable, ConflictError, IdentityColumn
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state import alterations, fold
from colonnade.manifests.state.folds.columns import restored
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.statements import identity_guard
from colonnade.tableformat.statements.append import evaluate_append
from colonnade.tableformat.statements.change import make_change
from colonnade.tableformat.statements.identity_guard import guarded
from colonnade.tableformat.statements.statement import Statement
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.epochs import restore
from colonnade.tableformat.types.input.column_types import as_table_schema
from tests.log_samples import database, make_log

COLUMNS = pa.schema([("id", pa.int64()), ("text", pa.string()), ("n", pa.int64())])
JOB = "ab" * 8
STEPS = 14

Act = Callable[["World", random.Random], None]


@dataclass
class World:
    """A table that several handles write, and appends that have values and wait for their slot."""

    schema: TableSchema
    identity: IdentityColumn
    store: MemoryStore = field(default_factory=MemoryStore)
    texts: int = 0
    waiting: list[tuple[ArrowTable, Statement]] = field(default_factory=list)

    def __post_init__(self) -> None:
        database(self.store)
        self.open().create_table("t", self.schema, identity={"id": self.identity})

    def open(self) -> ArrowDatabase:
        """Open the database as a new process does."""
        log = make_log(self.store, interval=5)
        return ArrowDatabase(self.store, log, log.reader.read_head())

    def table(self) -> ArrowTable:
        return self.open().table("t")

    def rows(self, order: random.Random) -> pa.Table:
        """Make rows with new texts; some bring values of their own where they may."""
        count = order.randint(1, 3)
        numbers = range(self.texts, self.texts + count)
        self.texts += count
        free = not self.identity.always
        ids = [order.randint(-60, 60) if free and order.random() < 0.3 else None for _ in numbers]
        kinds = ("given" if value is not None else "own" for value in ids)
        texts = [f"{kind} {number}" for kind, number in zip(kinds, numbers, strict=True)]
        return pa.table([ids, texts, [0] * count], COLUMNS)

    def check(self) -> None:
        """Look at every epoch for a value that the table gave to a second row."""
        head = self.open()
        last, seen, texts = head.refresh().epoch, set[int](), set[str]()
        for epoch in range(1, last + 1):
            if "t" not in head._log.reader.read_at(epoch).table_names().values():
                continue
            found = head.table("t", epoch=epoch).scan(epoch=epoch).to_arrow().to_pylist()
            born = [row for row in found if row["text"] not in texts]
            own = [row["id"] for row in born if row["text"].startswith("own")]
            assert len(own) == len(set(own)), f"epoch {epoch} has a value twice: {own}"
            assert seen.isdisjoint(own), f"epoch {epoch} gives values again: {seen & set(own)}"
            seen.update(row["id"] for row in found)
            texts.update(row["text"] for row in found)


def append(world: World, order: random.Random) -> None:
    world.table().append(world.rows(order))


def begin(world: World, order: random.Random) -> None:
    """Take values, and commit later."""
    table = world.table()
    rows = world.rows(order).to_batches()
    statement = evaluate_append(StatementLog(table._log, None), table._state, rows, JOB)
    world.waiting.append((table, guarded(statement, table._log.store, table._state)))


def finish(world: World, order: random.Random) -> None:
    """Commit an append that waits. A concurrent writer may have given one of its values."""
    if world.waiting:
        table, statement = world.waiting.pop(order.randrange(len(world.waiting)))
        with suppress(ConflictError):
            table._log.commit(make_change(statement, table._state, JOB), table._snapshot)


def change(world: World, order: random.Random) -> None:
    """Move, delete or rewrite rows."""
    table = world.table()
    match order.randrange(4):
        case 0:
            table.update({"n": order.randint(1, 9)}, f"id > {order.randint(-20, 40)}")
        case 1:
            table.delete(f"id > {order.randint(0, 60)}")
        case 2:
            table.optimize().executeCompaction()
        case 3:
            table.overwrite(world.rows(order))


def return_to_earlier(world: World, order: random.Random) -> None:
    """Restore an epoch, perhaps after the table was dropped."""
    opened = world.open()
    head = opened.refresh().epoch
    there = [
        e for e in range(1, head + 1) if "t" in opened._log.reader.read_at(e).table_names().values()
    ]
    epoch = order.choice(there)
    if order.random() < 0.4:
        opened.drop_table("t")
        world.waiting.clear()
    opened.restore(epoch=epoch)


def together(world: World, order: random.Random) -> None:
    """Append twice in one transaction."""
    with world.open().transaction() as transaction:
        for _ in range(2):
            transaction.table("t").append(world.rows(order))


ACTS: tuple[Act, ...] = (
    *(append, append, begin, begin, finish, finish),
    *(change, return_to_earlier, together),
)


def run(seed: int) -> None:
    """Let writers act in an order that is drawn from a seed, and look at all epochs."""
    order = random.Random(seed)
    identity = IdentityColumn(
        start=order.randint(-9, 9), step=order.choice((-3, 1, 1, 4)), always=seed % 3 == 0
    )
    world = World(as_table_schema(COLUMNS), identity)
    append(world, order)
    for _ in range(STEPS):
        order.choice(ACTS)(world, order)
    for _ in range(len(world.waiting)):
        finish(world, order)
    world.check()


@pytest.mark.parametrize("seed", range(2, 4))
def test_no_value_is_given_twice(seed: int) -> None:
    run(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(0, 400, 50))
def test_no_value_is_given_twice_in_many_orders(first: int) -> None:
    for seed in range(first, first + 50):
        run(seed)


def _forgets(really: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *given: replace(really(*given), identities=())


def _made_again(*given: Any) -> list[Any]:
    first, *others = _really_made(*given)
    return [first.model_copy(update={"identities": None}), *others]


_really_made = restore._made_again

MISTAKES: dict[str, Callable[[], AbstractContextManager[Any]]] = {
    "a restore forgets what was given": lambda: patch.object(
        alterations, "restored", _forgets(restored)
    ),
    "a dropped table comes back without what it gave": lambda: patch.object(
        restore, "_made_again", _made_again
    ),
    "values of users are not skipped": lambda: patch.object(
        fold, "with_values", lambda epoch, state, operation: state
    ),
    "a concurrent writer gives a value that was drawn": lambda: patch.object(
        identity_guard, "_shares", lambda *_: False
    ),
}


FINDERS = dict(zip(MISTAKES, (0, 1, 43, 74), strict=True))
"""The seed that found each mistake last."""


@pytest.mark.slow
@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found(mistake: str) -> None:
    def search() -> None:
        for seed in (FINDERS[mistake], *range(200)):
            run(seed)

    with MISTAKES[mistake](), pytest.raises(AssertionError, match="again|twice"):
        search()
