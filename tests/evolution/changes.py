"""Changes of the columns and rules of an evolving table, each beside the same change of the model.

A change that a rule of the table forbids is refused, and changes nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from colonnade.manifests.model.schema import IdentityColumn
from colonnade.tableformat.table.alteration import (
    AddColumn,
    AddConstraint,
    Alteration,
    DropColumn,
    DropConstraint,
    DropDefault,
    DropNotNull,
    MoveColumn,
    RenameColumn,
    SetDefault,
    SetNotNull,
    SetPartitioning,
    SetSortKey,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.evolution.columns import NARROW, WIDER, WIDEST, Column, Generated
from tests.evolution.state import Check, State
from tests.evolution.world import FLAT, World

INTEGERS = ("byte", "short", "int", "long")
TEXTS = ("varchar(3)", "varchar(5)", "string")
SORTED = (*NARROW, *WIDEST)


def alter(world: World, table: ArrowTable, change: Alteration, after: State, **rules: Any) -> None:
    """Alter the table by a handle that knows these columns."""
    if not world.lags(table):
        world.attempt(lambda: table.alter(change), after, **rules)


def widen(world: World, table: ArrowTable) -> None:
    state = world.state
    columns = [each for each in state.columns if each.type in WIDER]
    if not columns or world.lags(table):
        return
    column = world.rng.choice(columns)
    wider = replace(column, type=world.rng.choice(WIDER[column.type]))
    allowed = not isinstance(column.rule, Generated) and not state.is_source(column)
    if isinstance(column.rule, IdentityColumn):
        allowed = wider.type in INTEGERS
    change, after = WidenColumn((column.name,), wider.type), state.exchanged(column, wider)
    said = world.once_placing(column)
    alter(world, table, change, after, allowed=allowed, perhaps=said)


def change_inside(world: World, table: ArrowTable) -> None:
    """Add, drop, rename, move or widen a field at any depth."""
    column = world.rng.choice(world.state.others)
    found = world.make.change_inside(column) if column.children else None
    if found is not None:
        alter(world, table, found[1], world.state.exchanged(column, found[0]))


def add(world: World, table: ArrowTable) -> None:
    """A column at any place. Its first default is what earlier rows have in it for ever."""
    if world.lags(table):
        return
    state = world.state
    is_flat = world.rng.random() < 0.5
    new = (
        world.make.column(world.rng.choice((*NARROW, "void")))
        if is_flat
        else world.make.any(world.depth)
    )
    value = world.make.value(new) if new.type in FLAT else None
    new = replace(new, default=value, initial=value, nullable=world.rng.random() < 0.7)
    at = world.rng.randrange(len(state.columns) + 1)
    after = state.columns[at - 1].name if at else None
    change = AddColumn(new.field(), after, first=at == 0, default=world.stated(new, value))
    columns = (*state.columns[:at], new, *state.columns[at:])
    rows = tuple({**row, new.key: value} for row in state.rows)
    allowed = new.nullable or value is not None
    alter(world, table, change, replace(state, columns=columns, rows=rows), allowed=allowed)


def drop(world: World, table: ArrowTable) -> None:
    state, column = world.state, world.rng.choice(world.state.others)
    if len(state.columns) > 5:
        allowed = not (
            state.is_placing(column) or state.is_source(column) or state.is_checked(column)
        )
        alter(world, table, DropColumn((column.name,)), state.exchanged(column), allowed=allowed)


def rename(world: World, table: ArrowTable) -> None:
    state, column = world.state, world.rng.choice(world.state.others)
    named = replace(column, name=world.make.column(column.type).name)
    allowed = not (state.is_source(column) or state.is_checked(column))
    change = RenameColumn((column.name,), named.name)
    alter(world, table, change, state.exchanged(column, named), allowed=allowed)


def move(world: World, table: ArrowTable) -> None:
    state = world.state
    column, other = world.rng.sample(state.columns, 2)
    rest = [each for each in state.columns if each is not column]
    at = rest.index(other) + 1
    change = MoveColumn((column.name,), after=other.name)
    alter(world, table, change, state.with_columns((*rest[:at], column, *rest[at:])))


def set_default(world: World, table: ArrowTable) -> None:
    state = world.state
    column = world.rng.choice(world.flat())
    value = world.make.value(column)
    if column.key == 0 or (value is None and column.default is None):
        return
    after = state.exchanged(column, replace(column, default=value))
    change: Alteration = SetDefault((column.name,), world.stated(column, value))
    if value is None:
        change = DropDefault((column.name,))
    alter(world, table, change, after, allowed=column.rule is None)


def set_nullable(world: World, table: ArrowTable) -> None:
    """Forbid NULL in a column, or allow it again."""
    state, column = world.state, world.rng.choice(world.state.others)
    change: Alteration = DropNotNull((column.name,))
    if column.nullable:
        change = SetNotNull((column.name,))
    after = state.exchanged(column, replace(column, nullable=not column.nullable))
    alter(world, table, change, after, allowed=column.rule is None and column.type != "void")


def set_check(world: World, table: ArrowTable) -> None:
    """Add a constraint, or drop one."""
    state = world.state
    numbers = [c for c in world.flat() if c.type in WIDER and c.type not in TEXTS and not c.rule]
    if state.checks and (not numbers or world.rng.random() < 0.5):
        name = world.rng.choice([*state.checks])
        left = {each: check for each, check in state.checks.items() if each != name}
        alter(world, table, DropConstraint(name), replace(state, checks=left))
    elif numbers:
        column, least = world.rng.choice(numbers), world.rng.randrange(-99, 0)
        name = f"at_least_{world.epoch}"
        checks = {**state.checks, name: Check(column.key, least)}
        change = AddConstraint(name, f"{column.name} >= {least}")
        alter(world, table, change, replace(state, checks=checks))


def set_key(world: World, table: ArrowTable) -> None:
    """Sort rows by other columns, or by none."""
    columns = [c for c in world.state.columns if c.type in SORTED]
    chosen = world.rng.sample(columns, min(len(columns), world.rng.randrange(3)))
    names = tuple(f"{c.name}{world.rng.choice(('', ' desc'))}" for c in chosen)
    after = replace(world.state, key=tuple(c.key for c in chosen))
    alter(world, table, SetSortKey(names), after)


def set_layout(world: World, table: ArrowTable) -> None:
    """Partition rows by another column, or by none."""
    columns = [c for c in world.state.columns if c.type in (*INTEGERS, *TEXTS)]
    chosen: list[Column] = world.rng.sample(columns, world.rng.randrange(2))
    fields = tuple(
        f"truncate(1, {c.name})" if c.type in TEXTS else f"bucket(2, {c.name})" for c in chosen
    )
    after = replace(world.state, layout=tuple(c.key for c in chosen))
    alter(world, table, SetPartitioning(fields), after)
