"""Random orders of everything that can happen to an evolving table, and how its epochs are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.table.table import ArrowTable
from tests.evolution import changes, statements, upkeep
from tests.evolution.world import World

Step = Callable[[World, ArrowTable], None]

STEPS: tuple[Step, ...] = (
    *(8 * (statements.append,)),
    *(3 * (statements.append_more, statements.update, statements.upsert)),
    *(2 * (statements.delete, statements.backfill, statements.transaction)),
    *(statements.overwrite, statements.add_computed),
    *(4 * (changes.widen, changes.change_inside)),
    *(3 * (changes.add, changes.set_default)),
    *(2 * (changes.drop, changes.rename, changes.set_nullable, changes.set_check)),
    *(changes.move, changes.set_key, changes.set_key, changes.set_layout),
    *(3 * (upkeep.compact, upkeep.restore)),
    *(upkeep.tag, upkeep.drop_and_restore, upkeep.replace_table),
)
"""What happens at random. A step that stands here several times happens more often."""


def evolve(world: World, steps: int) -> None:
    """Take steps by one of two handles. A handle may lag behind the other."""
    for _ in range(steps):
        table, step = world.rng.choice(world.tables), world.rng.choice(STEPS)
        if world.rng.random() < 0.7:
            table.refresh()
        try:
            step(world, table)
        except ConflictError:
            assert world.lags(table), "only a handle that lags behind is refused"
            table.refresh()


def reads(world: World) -> Iterator[tuple[str, Scan, pa.Table]]:
    """Every epoch with its own columns, and pairs of epochs with the columns of the other one.

    Each comes with the rows that it must have, in the order of `k`.
    """
    table = world.open()
    for epoch in sorted(world.epochs):
        yield f"epoch {epoch}", table.scan(epoch=epoch), world.expected(epoch)
    for _ in range(len(world.epochs) // 2):
        epoch, other = world.rng.choices(sorted(world.epochs), k=2)
        try:
            found = table.scan(epoch=epoch, schema_epoch=other)
        except InvalidInputError:
            if not _may_refuse(world, epoch, other):
                raise
            continue
        columns = world.epochs[other].columns
        yield f"epoch {epoch} as of {other}", found, world.expected(epoch, columns)


def _may_refuse(world: World, epoch: int, other: int) -> bool:
    """Return whether the columns of an epoch may not show the rows of another one.

    They belong to another table, or a column they share has changed its type in between.
    """
    one, two = world.epochs[epoch], world.epochs[other]
    types = {c.key: (c.type, c.children) for c in one.columns}
    changed = any(
        types.get(c.key, (c.type, c.children)) != (c.type, c.children) for c in two.columns
    )
    return one.table != two.table or changed
