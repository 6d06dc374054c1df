"""Writes into tables with a primary key by every kind of statement, so that keys often meet."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.chance import random_condition, random_rows
from tests.simulation.intents import Intent
from tests.simulation.keyed.history import AllFacts
from tests.simulation.keyed.rows import COLUMNS, DATED, KEYS, TABLES, key_of
from tests.simulation.keyed.statements import KeyedStep
from tests.simulation.rows import Condition, Rows, State
from tests.simulation.statements import Kind, Step
from tests.simulation.world import World

ROADS: tuple[Kind, ...] = (
    "upsert", "append", "delete_keys", "rekey", "merge", "replace", "update", "delete", "overwrite",
    "delete_range",
)  # fmt: skip
MIX = (7.0, 6.0, 2.0, 1.5, 1.5, 1.0, 1.5, 1.0, 0.2, 1.0)
"""How often each of them is chosen."""

WITHIN = ROADS.index("overwrite")
"""A transaction has the statements before this one."""


@dataclass(frozen=True)
class KeyedWriter:
    """Asks for one statement, or for one on each table in a transaction; `mix` weighs the roads."""

    weight: float = 10.0
    mix: tuple[float, ...] = MIX

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Ask for one intent, and check that a refusal has a reason."""
        state = world.oracle.states[database._snapshot.epoch]
        names = sorted(TABLES.keys() & state.keys())
        if order.random() < 0.15:
            chosen = [_step(order, world, name, state[name], self.mix[:WITHIN]) for name in names]
            other = Step("append", "plain", random_rows(order, world.new_ids(1)))
            ask(database, world, world.intend(*chosen, other))
        elif names:
            name = order.choice(names)
            ask(database, world, world.intend(_step(order, world, name, state[name], self.mix)))


@dataclass(frozen=True)
class KeyedStreamer:
    """Sends the next numbered batch for hot keys, or one that was sent before; each counts once."""

    weight: float = 3.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Send one batch. Its rows follow from its number. Every third one inserts a new key."""
        number = max(world.oracle.batches.get("keyed", -1) + order.choice((0, 1, 1)), 0)
        rows = tuple((3_000_000 + 4 * number + i, 1) for i in range(4))
        step = KeyedStep("upsert", "sums", rows, given=COLUMNS, salt=number)
        if number % 3:
            step = replace(step, keys=(0, 1, 2, number % 3))
        else:
            new = (KEYS.stop + number,)
            step = replace(step, kind="append", rows=rows[:1], keys=new, on_duplicate="error")
        ask(database, world, world.intend(step, batch=("keyed", number)))


def ask(database: ArrowDatabase, world: World, intent: Intent) -> None:
    """Ask a database for what an intent says. A refusal without a reason is an AssertionError."""
    first = database._snapshot.epoch
    app, version = intent.batch or ("", 0)
    is_repeated = version <= world.oracle.batches.get(app, -1)

    def act() -> int | None:
        try:
            return intent.ask(database)
        except InvalidInputError as error:
            states, facts = world.oracle.states[first:], world.oracle.facts[first:]
            reasons = [_may_be_refused(step, states, facts) for step in intent.steps]
            if is_repeated or not any(reasons):
                raise AssertionError(f"{intent.name} was refused for nothing: {error}") from error
            raise

    world.ask(intent, act)


def _step(order: random.Random, world: World, name: str, rows: Rows, mix: Sequence[float]) -> Step:
    """A statement on a table that was seen with these rows."""
    kind = order.choices(ROADS[: len(mix)], mix)[0]
    if kind == "delete_keys" and "sequence.w" in TABLES[name][1]:
        kind = "upsert"  # A deletion is about whole rows, so such a table refuses it.
    match kind:
        case "delete" | "update":
            where = random_condition(order, rows)
            return Step(kind, name, where=where, value=order.randint(0, 4))
        case "rekey":
            some = order.sample(sorted(rows), min(len(rows), order.choice((1, 1, 2)))) or [0]
            where = Condition("ids", tuple(some))
            return KeyedStep(kind, name, where=where, value=order.choice(KEYS))
        case "delete_range":
            low = order.choice(KEYS)
            return KeyedStep(kind, name, keys=(low, low + order.choice((0, 1, 3))))
        case "delete_keys":
            at = order.choice((None, 2, 4, 6, 7)) if name == DATED else None
            return KeyedStep(kind, name, keys=tuple(order.sample(KEYS, order.randint(1, 3))), at=at)
    count = order.randint(1, 4)
    keys = order.choices(KEYS, k=count) if order.random() < 0.4 else order.sample(KEYS, count)
    step = KeyedStep(
        kind,
        name,
        random_rows(order, world.new_ids(count)),
        given=COLUMNS,
        salt=order.randint(0, 6),
        keys=tuple(keys),
        on_duplicate=order.choice((None, None, "error", "ignore", "merge")),
    )
    match kind:
        case "merge":
            known = order.sample(sorted(rows), min(len(rows), count - 1))
            ids = [*known, *(row for row, _ in step.rows)][:count]
            return replace(step, rows=random_rows(order, ids))
        case "replace":
            value = order.randint(0, 4)
            new = tuple((row, value) for row, _ in step.rows)
            return replace(step, rows=new, where=Condition("is", (value,)))
        case "append" | "upsert":
            return replace(step, given=_some_columns(order, name))
    return step


def _some_columns(order: random.Random, name: str) -> tuple[str, ...]:
    """Choose some of the columns, and add the sequence column that they need."""
    found = [each for each in COLUMNS if order.random() < 0.7]
    properties = TABLES[name][1]
    if "sequence" in properties:
        found += ["at", *(["c"] if "w" in found and "sequence.w" in properties else [])]
    return tuple(dict.fromkeys(found))


def _may_be_refused(step: Step, states: Sequence[State], facts: Sequence[AllFacts]) -> bool:
    """Whether a statement had a reason to be refused at one of these epochs."""
    if not isinstance(step, KeyedStep):
        return False
    name = step.table
    known = [each[name] for each in states if name in each]
    lacks_key = not all(each[name].key for each in facts if name in each)
    if step.kind in ("upsert", "delete_keys", "delete_range"):
        return lacks_key
    if lacks_key and step.kind != "merge" and step.on_duplicate is not None:
        return True
    if step.kind == "rekey":
        return any(_meets(rows, step) for rows in known)
    policies = {step.on_duplicate or each[name].on_duplicate for each in facts if name in each}
    if step.kind != "merge" and "error" not in policies:
        return False
    own = {row for row, _ in step.rows} if step.kind == "merge" else set()
    taken = {key_of(it) for rows in known for row, it in rows.items() if row not in own}
    repeated = len({*step.keys}) < len(step.keys)
    return repeated or (step.kind != "overwrite" and not taken.isdisjoint(step.keys))


def _meets(rows: Rows, step: KeyedStep) -> bool:
    """Whether rows that get a key would share it with other rows."""
    chosen = step.where.of(rows)
    others = {key_of(it) for row, it in rows.items() if row not in chosen}
    return len(chosen) > 1 or step.value in others
