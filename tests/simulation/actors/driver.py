"""Commits what tasks wrote, as Spark's driver does, and sends a commit again after it was lost."""

from __future__ import annotations

import random
from dataclasses import dataclass

from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.job import WriteJob, target_of
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings
from tests.simulation.chance import random_rows, with_columns
from tests.simulation.statements import Step
from tests.simulation.world import TABLES, World


@dataclass(frozen=True)
class Driver:
    """Sends a new append, or an earlier one again, perhaps after its base was vacuumed."""

    weight: float = 1.0

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Send one job. Only one that is known to have failed is never sent again."""
        again = bool(world.jobs) and order.random() < 0.6
        name = order.choice(sorted(world.jobs)) if again else self._plan(database, world, order)
        intent, job, entries = world.jobs[name]
        world.ask(intent, lambda: commit_written(job, entries, database._log).epoch)

    def _plan(self, database: ArrowDatabase, world: World, order: random.Random) -> str:
        """Write the rows of a new job; returns the name of its intent."""
        log, base = database._log, database._refresh()
        name = order.choice(TABLES)
        step = Step("append", name, random_rows(order, world.new_ids(2)))
        columns = world.oracle.columns[base.epoch][name].whole
        intent = world.intend(with_columns(order, step, columns))
        target = target_of(base.table(name), log.limits)
        job = WriteJob(
            address=log.store.address,
            target=target,
            mode="append",
            create=None,
            create_database=False,
            base=base.epoch,
            transaction=new_transaction_id(),
            job_id=new_job_id(),
            settings=WriteSettings(),
            commit=CommitSettings(metadata=intent.note()),
            parameters={},
        )
        rows = intent.steps[0].batch(arrow_schema(target.table_schema)).to_batches()
        world.jobs[intent.name] = (intent, job, write_rows(job, rows, log.store))
        return intent.name
