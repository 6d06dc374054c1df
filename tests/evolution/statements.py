"""Statements that change the rows of an evolving table, each beside the same change of the model.

A statement that a rule of the table forbids is refused, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from colonnade.manifests.model.schema import IdentityColumn
from colonnade.tableformat.table.table import ArrowTable
from tests.evolution.columns import WIDER, Column, Generated
from tests.evolution.state import Row, State
from tests.evolution.world import World


def append(world: World, table: ArrowTable) -> None:
    """Rows that may leave columns out."""
    table.refresh()
    state = world.state
    given = _given(world, state.columns)
    rows = new_rows(world, state, given, world.rng.choice(world.batches))
    data = _data(world, given, rows)
    world.attempt(lambda: table.append(data), state.with_rows((*state.rows, *rows)))


def append_more(world: World, table: ArrowTable) -> None:
    """Rows that bring a new column, and wider values."""
    table.refresh()
    state = world.state
    new = world.make.any(world.depth)
    grown = state.with_columns((*state.columns, new))
    for column in state.columns:
        free = column.rule is None and not state.is_source(column)
        free = free and not column.type.startswith("varchar") and not world.once_placing(column)
        if column.type in WIDER and free and world.rng.random() < 0.3:
            grown = grown.exchanged(column, replace(column, type=WIDER[column.type][0]))
    given = (*_given(world, grown.columns[:-1]), new)
    rows = new_rows(world, grown, given, world.rng.choice(world.batches))
    kinds = {column.key: column.type for column in given}
    left = {c.key: c for c in state.columns if c.key not in kinds}
    grown = grown.with_columns(left.get(c.key, c) for c in grown.columns)
    data = _data(world, given, rows)
    world.attempt(
        lambda: table.append(data, evolve=True),
        grown.with_rows((*state.rows, *rows)),
        between=grown,
    )


def upsert(world: World, table: ArrowTable) -> None:
    """Rows that replace existing rows by `k`, and new rows."""
    table.refresh()
    state = world.state
    old = {row[0]: row for row in world.rng.sample(state.rows, min(4, len(state.rows)))}
    rows = list(new_rows(world, state, state.columns, len(old) + 2, own=False))
    for at, (key, row) in enumerate(old.items()):
        kept = {} if state.identity is None else {state.identity.key: row[state.identity.key]}
        rows[at] = {**rows[at], 0: key, **kept}
    world.rng.shuffle(rows)
    blank = [{**row, **_blank(state.columns)} for row in rows]
    data = _data(world, state.columns, blank)
    after = state.with_rows((*(row for row in state.rows if row[0] not in old), *rows))
    world.attempt(lambda: table.upsert(data, on="k").epoch, after)


def overwrite(world: World, table: ArrowTable) -> None:
    """All rows, or those of a range of `k`."""
    table.refresh()
    state = world.state
    rows = new_rows(world, state, state.columns, world.rng.choice(world.batches[:2]))
    data = _data(world, state.columns, rows)
    least = max(0, world.next_row - len(rows) - 20)
    if world.rng.random() < 0.5:
        world.attempt(lambda: table.overwrite(data), state.with_rows(rows))
    else:
        kept = (row for row in state.rows if row[0] < least)
        after = state.with_rows((*kept, *rows))
        world.attempt(lambda: table.overwrite(data, f"k >= {least}"), after)


def delete(world: World, table: ArrowTable) -> None:
    text, met = world.condition()
    table.refresh()
    rows = (row for row in world.rows if not met(row))
    world.attempt(lambda: table.delete(text).epoch, world.state.with_rows(rows))


def update(world: World, table: ArrowTable) -> None:
    text, met = world.condition()
    table.refresh()
    if (found := _settable(world)) is not None:
        column, value = found
        stated = {column.name: world.stated(column, value)}
        after = _with_value(world.state, column, value, met)
        world.attempt(lambda: table.update(stated, text).epoch, after)


def backfill(world: World, table: ArrowTable) -> None:
    """As an update, but no row moves."""
    text, met = world.condition()
    table.refresh()
    if (found := _settable(world)) is None:
        return
    column, value = found
    allowed = not world.state.is_source(column) and not world.state.is_placing(column)
    stated = world.stated(column, value)
    after = _with_value(world.state, column, value, met)

    def act() -> int | None:
        counts = table.backfill(column.name, stated, text)
        assert counts.rows_updated == sum(map(met, world.rows))
        return counts.epoch

    world.attempt(act, after, allowed=allowed, perhaps=world.once_placing(column))


def add_computed(world: World, table: ArrowTable) -> None:
    """A column that is three times `k`."""
    new = world.make.column("long")
    rows = tuple({**row, new.key: 3 * row[0]} for row in world.rows)
    after = replace(world.state, columns=(*world.state.columns, new), rows=rows)

    def triple(batch: pa.RecordBatch) -> pa.Array:
        return pa.array([3 * number for number in batch["k"].to_pylist()], pa.int64())

    world.attempt(lambda: table.add_column(new.name, "long", triple, columns=["k"]).epoch, after)


def transaction(world: World, table: ArrowTable) -> None:
    """Two appends and a delete between them, in one epoch."""
    before = state = world.state
    text, met = world.condition()
    with_rows: list[pa.Table] = []
    for number in range(2):
        rows = new_rows(world, state, state.columns, 3, careful=True)
        with_rows.append(_data(world, state.columns, rows))
        kept = (r for r in state.rows if not met(r)) if number else state.rows
        state = state.with_rows((*kept, *rows))

    def act() -> int:
        changes = world.database().transaction()
        in_it = changes.table("t")
        in_it.append(with_rows[0])
        in_it.delete(text)
        in_it.append(with_rows[1])
        return changes.commit()

    identity = before.identity
    if identity is None or identity.name not in text:
        world.attempt(act, state)


def new_rows(
    world: World,
    state: State,
    given: tuple[Column, ...],
    count: int,
    *,
    own: bool = True,
    careful: bool = False,
) -> tuple[Row, ...]:
    """Rows with new keys; most keep the rules. The table gives a value where there is None.

    `own` lets rows bring values for an identity column that takes some.
    """
    careful = careful or world.rng.random() < 0.9
    rows = []
    for n in range(count):
        row: dict[int, Any] = {}
        for column in state.columns:
            is_given = column in given and column.rule is None
            row[column.key] = _value(world, state, column, careful) if is_given else column.default
        row[0] = world.next_row + n
        identity = state.identity
        if identity is not None:
            row[identity.key] = _own(world, identity) if own and identity in given else None
        rows.append(state.filled(row))
    world.next_row += count
    return tuple(rows)


def _value(world: World, state: State, column: Column, careful: bool) -> Any:
    """A value, which keeps the rules of its column if it is `careful`."""
    value = world.make.value(column)
    while careful and value is None and not column.nullable:
        value = world.make.value(column)
    for check in state.checks.values():
        if careful and not check.admits(
            {check.column: value} if check.column == column.key else {}
        ):
            value = type(value)(check.least)
    return value


def _own(world: World, column: Column) -> int | None:
    """A value that a user gives to an identity column, or None."""
    assert isinstance(column.rule, IdentityColumn)
    value = world.rng.randrange(-400, 400)
    taken = column.rule.always or value in world.given.get(column.key, ())
    return None if taken or world.rng.random() < 0.7 else value


def _given(world: World, columns: tuple[Column, ...]) -> tuple[Column, ...]:
    return tuple(c for c in columns if c.key == 0 or world.rng.random() < 0.8)


def _data(world: World, given: tuple[Column, ...], rows: Sequence[Row]) -> pa.Table:
    """Rows as a batch, which states generated values or leaves them to the table.

    A column without NULL is stated as one that may have it, as programs do that build batches.
    """
    stated = world.rng.random() < 0.3
    computed = [c.key for c in given if isinstance(c.rule, Generated)]
    hidden: dict[int, None] = {} if stated else dict.fromkeys(computed)
    nullable = tuple(replace(each, nullable=True) for each in given)
    return world.batch(nullable, [{**row, **hidden} for row in rows])


def _blank(columns: tuple[Column, ...]) -> dict[int, None]:
    return {c.key: None for c in columns if c.rule is not None}


def _settable(world: World) -> tuple[Column, Any] | None:
    """A column that statements set, and a value for it."""
    columns = [c for c in world.flat() if c.key and c.rule is None]
    if not columns:
        return None
    column = world.rng.choice(columns)
    return column, _value(world, world.state, column, careful=world.rng.random() < 0.7)


def _with_value(state: State, column: Column, value: Any, met: Any) -> State:
    rows = (state.filled({**row, column.key: value}) if met(row) else row for row in state.rows)
    return state.with_rows(rows)
