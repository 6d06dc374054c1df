"""Rewrites RowSets in their order or another one, while concurrent writers change them."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.arrays.origins import encode_origins
from colonnade.manifests.arrays.partitions import partition_of
from colonnade.manifests.commit.change import Change
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.ids import new_job_id, new_transaction_id
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.entries import OriginEntry, RowSetEntry
from colonnade.manifests.model.operations import Compaction, CompactionInput, CompactionOutput
from colonnade.manifests.state.snapshot import LiveRowSet, Snapshot, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.scan.plan import plan_scan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.scan.selection import deleted_rows
from colonnade.tableformat.statements.statement import write_batches
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.settings import WriteSettings
from tests.simulation.world import World

MANY = 1000


@dataclass(frozen=True)
class Compactor:
    """Rewrites at most `most` RowSets of one table. It is refused if they were dropped.

    A large rewrite takes long, and concurrent writers change most of its RowSets.
    """

    weight: float = 3.0
    most: int = 3

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Plan on the newest state, read and write, then commit on what was planned."""
        base = database._refresh()
        table = base.tables[order.choice(sorted(base.tables))]
        log = database._log
        rowsets = log.rowsets.read(table, which="all")
        rowsets = [each for each in rowsets if not each.has_tombstones]
        if not rowsets or () not in table.sort_orders:
            return
        partition = partition_of(order.choice(rowsets).entry)
        alike = [rowset for rowset in rowsets if partition_of(rowset.entry) == partition]
        if table.range_tombstones:  # An output has one clean epoch.
            alike = [each for each in alike if _met(table, each) == _met(table, alike[0])]
        wanted = self.most if self.most == MANY else order.randint(1, self.most)
        chosen = sorted(order.sample(alike, min(len(alike), wanted)), key=lambda r: r.id)
        change = rewrite(
            log, base, table, chosen, order if order.random() < 0.5 else None, world.shape.copies
        )
        log.commit(change, base)


def rewrite(
    log: Log,
    base: Snapshot,
    table: TableState,
    inputs: list[LiveRowSet],
    order: random.Random | None = None,
    copies: int = 1,
) -> Change:
    """Write the rows of RowSets of one partition again, at most three to a RowSet.

    The rows are written `copies` times, and in no order that the outputs would state. With `order`
    they are shuffled. Rows of range tombstones stay. Requires a table that had no sort key once.
    """
    job = new_job_id()
    plan = plan_scan(View.stored(table, inputs), base.epoch)
    rows = pa.Table.from_batches(read_plan(log.store, plan), arrow_schema(plan.output_schema))
    origin: OriginEntry | None = None
    if order is not None and rows.num_rows:
        places = list(range(rows.num_rows))
        order.shuffle(places)
        rows = rows.take(places)
        sources = np.concatenate([(i << 32) + _live(log, table, r) for i, r in enumerate(inputs)])
        origin = write_origin(log.store, table.prefix, job, encode_origins([sources[places]]))
    unsorted = table.sort_orders.index(())
    undivided = replace(table, partition_layout_id=0, sort_order_id=unsorted)
    settings = WriteSettings(max_records=3 * copies)
    written = write_batches(log, undivided, job, rows.to_batches(), settings)
    kept = {
        "partition_layout_id": inputs[0].entry.partition_layout_id,
        "partition": inputs[0].entry.partition,
        "sort_order_id": unsorted,
    }
    op = Compaction(
        table=table.id,
        inputs=tuple(
            CompactionInput(rowset=r.id, rows=r.entry.rows, vector=r.vector) for r in inputs
        ),
        outputs=tuple(
            CompactionOutput(rowset=_dated(table, inputs, entry.model_copy(update=kept)))
            for entry in written
        ),
        origin=origin,
    )
    return Change(new_transaction_id(), "compaction", (op,))


def _met(table: TableState, rowset: LiveRowSet) -> int:
    """Return how many range tombstones of its table a RowSet has met."""
    return sum(each.epoch <= rowset.clean_epoch for each in table.range_tombstones)


def _dated(table: TableState, inputs: list[LiveRowSet], entry: RowSetEntry) -> RowSetEntry:
    """Return an entry that states which range tombstones its rows have met, if there are any."""
    if not table.range_tombstones:
        return entry
    met = min(each.clean_epoch for each in inputs)
    return entry.model_copy(update={"clean_epoch": met})


def _live(log: Log, table: TableState, rowset: LiveRowSet) -> NDArray[np.int64]:
    every = np.arange(rowset.entry.rows)
    gone = deleted_rows(log.store, View.stored(table), rowset)
    return every if gone is None else np.setdiff1d(every, np.asarray(gone.to_array(), np.int64))
