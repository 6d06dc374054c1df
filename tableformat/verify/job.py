"""RowSets to check, as a value that other machines can run, and the outcome of the check."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from colonnade.manifests.model.entries import Count, PartitionField, SortField
from colonnade.manifests.model.schema import Model
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.sort_order import orders_of
from colonnade.manifests.state.view import View
from colonnade.manifests.store import ObjectStore, StoreAddress, open_store
from colonnade.tableformat.jobs import JobRunner
from colonnade.tableformat.verify.findings import Finding


class Unit(NamedTuple):
    """A RowSet to check, its table in the same state, and the epoch if only a tag or pin has it."""

    table: TableState
    rowset: LiveRowSet
    epoch: int | None = None


class VerifyJob(Model):
    """A view of RowSets of one table to check up to a depth, which hides nothing.

    `sort_orders` has the order that the rows of each sort order have by the present columns.
    """

    address: StoreAddress
    depth: Count
    view: View
    sort_orders: tuple[tuple[SortField, ...], ...]
    partition_layouts: tuple[tuple[PartitionField, ...], ...] = ()
    epoch: Count | None = None

    @property
    def bytes(self) -> int:
        """The stored bytes of the RowSets."""
        return sum(rowset.byte_count for rowset in self.view.rowsets)

    def open_store(self) -> ObjectStore:
        """Open the store of the database, on any machine."""
        return open_store(self.address).uncached


class VerifyOutcome(Model):
    """What is wrong with the RowSets of a job, and how many bytes of data were read."""

    findings: tuple[Finding, ...]
    bytes: Count


VerifyRunner = JobRunner[VerifyJob, VerifyOutcome]
"""Where the jobs of a verification run, and how many at once."""


def plan_jobs(
    address: StoreAddress, depth: int, units: Sequence[Unit], count: int
) -> Iterator[VerifyJob]:
    """Divide RowSets into about `count` jobs of similar bytes, at least one for each table."""
    share = sum(unit.rowset.byte_count for unit in units) / count
    taken: list[LiveRowSet] = []
    size = 0
    for at, unit in enumerate(units):
        taken.append(unit.rowset)
        size += unit.rowset.byte_count
        if size >= share or at + 1 == len(units) or units[at + 1].table is not unit.table:
            yield _job(address, depth, unit, taken)
            taken, size = [], 0


def _job(address: StoreAddress, depth: int, unit: Unit, rowsets: Sequence[LiveRowSet]) -> VerifyJob:
    table = unit.table
    return VerifyJob(
        address=address,
        depth=depth,
        view=View.stored(table, rowsets),
        sort_orders=orders_of(table),
        partition_layouts=table.partition_layouts,
        epoch=unit.epoch,
    )
