"""Reads changes as a consumer, and commits how far it has come together with a result."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.settings import CommitSettings
from tests.simulation.chance import random_rows, with_columns
from tests.simulation.feeds import changes_of, columns_to_read
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Consumer:
    """Works as the one consumer of a table, which all processes share.

    Some consumers are forgotten so soon that a vacuum does not wait for them.
    """

    weight: float = 3.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Create, reset or drop it, or run one transaction that reads its changes."""
        table = order.choice(TABLES)
        name, known = f"of {table}", {each.name: each for each in database.consumers()}
        found = known.get(name)
        if found is not None and (found.table is None or order.random() < 0.05):
            database.drop_consumer(name)
            return
        if found is None:
            start = None if order.random() < 0.7 else max(world.oracle.head - 2, 3)
            keep = order.choice(("1 second", "1 second", "1 hour"))
            database.create_consumer(name, table, start, keep=keep)
        elif found.epoch < world.oracle.floor or order.random() < 0.05:
            database.reset_consumer(name)
        self._read(database, world, order, table, name)

    def _read(
        self, database: ArrowDatabase, world: World, order: random.Random, table: str, name: str
    ) -> None:
        result = Step("append", order.choice(TABLES), random_rows(order, world.new_ids(1)))
        columns = world.oracle.columns[database._snapshot.epoch].get(result.table)
        step = result if columns is None else with_columns(order, result, columns.whole)
        intent, net, shape = world.intend(step), order.random() < 0.3, world.shape

        def run() -> int:
            with database.transaction(commit=CommitSettings(metadata=intent.note())) as tx:
                found = tx.changes(table, name, columns=columns_to_read(table, shape), net=net)
                told = changes_of(table, found.to_arrow(), shape)
                world.oracle.consumers.told[intent.name] = told
                intent.steps[0].ask_within(tx)
                return tx.commit()

        world.ask(intent, run)
