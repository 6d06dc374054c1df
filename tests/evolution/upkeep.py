"""What happens to an evolving table as a whole: compactions, earlier states, another table."""

from __future__ import annotations

from dataclasses import replace

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.table.table import ArrowTable
from tests.evolution.changes import SORTED
from tests.evolution.columns import Generated
from tests.evolution.state import State
from tests.evolution.world import World


def compact(world: World, table: ArrowTable) -> None:
    """Compact, in the order of the sort key or in a z-order, which a sort key excludes."""
    table.refresh()
    job = table.optimize().option("min-rowsets", 2)
    columns = [c.name for c in world.state.columns if c.type in SORTED]
    if world.rng.random() < 0.3 and not world.state.key:
        job.executeZOrderBy(*world.rng.sample(columns, 2))
    else:
        job.executeCompaction()
    _same(world, table.refresh().epoch)


def tag(world: World, table: ArrowTable) -> None:
    """Tag an epoch, and read it by its name."""
    then, database = world.rng.choice(sorted(world.epochs)), world.database()
    name = f"at {world.epoch}"
    database.tag(name, then)
    _same(world, database.refresh().epoch)
    if world.epochs[then].table == world.state.table:
        assert world.open().scan(tag=name).to_arrow().num_rows == len(world.epochs[then].rows)


def restore(world: World, table: ArrowTable) -> None:
    """By a handle that may lag behind."""
    then = world.rng.choice(sorted(world.epochs))
    after = world.epochs[then]
    same = after.table == world.state.table
    _forget(world, after, dropped=False)
    try:
        world.landed(table.restore(epoch=then), after)
    except InvalidInputError as error:
        if "partition" not in error.message:
            raise
    if not same:
        world.open_again()


def drop_and_restore(world: World, table: ArrowTable) -> None:
    """Drop the table, and restore its state at an epoch, or else its last one."""
    chosen, database = world.rng.choice(sorted(world.epochs)), world.database()
    dropped = database.drop_table("t")
    for then in (chosen, world.epoch):
        try:
            epoch = database.restore(epoch=then)
            break
        except InvalidInputError as error:
            if "partition" not in error.message:
                raise
    else:  # Once it had partitions by a column that it has no more.
        world.create(_another(world))
        return
    assert epoch == dropped + 1
    _forget(world, world.epochs[then], dropped=True)
    world.epochs[epoch] = world.epochs[then]
    world.open_again()


def replace_table(world: World, table: ArrowTable) -> None:
    """`CREATE OR REPLACE`: some columns stay, and keep their ids and rules."""
    world.create(_another(world), replace=True)


def _another(world: World) -> State:
    """Return a table of some columns of this one and of new ones."""
    state = world.state
    kept = [c for c in state.columns if c.key == 0 or world.rng.random() < 0.7]
    keys = {c.key for c in kept}
    kept = [c for c in kept if not isinstance(c.rule, Generated) or c.rule.source in keys]
    columns = [replace(c, default=None, initial=None) for c in kept]
    if state.identity is None and world.ruled:
        columns += world.new_rules()
    columns += [world.make.nested(world.depth), world.make.column("int")]
    return State(tuple(columns), table=max(each.table for each in world.epochs.values()) + 1)


def _forget(world: World, after: State, *, dropped: bool) -> None:
    """Forget the values that later tables gave, if an earlier one comes back without their counter.

    It has the counter of the table whose place it takes, if that one has the same identity column.
    """
    column, other = after.identity, world.state.identity
    kept = other is not None and column is not None and other.key == column.key
    if column is None or after.table == world.state.table or (kept and not dropped):
        return
    states = (each for each in world.epochs.values() if each.table == after.table)
    world.given[column.key] = {
        row[column.key] for each in states for row in each.rows if column.key in row
    }


def _same(world: World, newest: int) -> None:
    """Note that no epoch up to the newest one has changed rows or columns."""
    world.epochs |= dict.fromkeys(range(world.epoch + 1, newest + 1), world.state)
