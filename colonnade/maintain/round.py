"""Run a round of maintenance. A step that fails does not keep the next steps from running.

Several schedulers may run rounds on one database at the same time. If two rounds compact the same
RowSets, one of the two commits is dropped; concurrent vacuums are safe.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timezone

from colonnade.maintain.plan import Distance, Planned, checkpoint_due, distance, most_first
from colonnade.manifests.checkpoint.reader import read_hint
from colonnade.manifests.checkpoint.writer import write_checkpoint
from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.log.log import Log
from colonnade.manifests.state.rowset_ids import warn_of_end
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.compaction.clean import clean_table
from colonnade.tableformat.compaction.execute import CompactionReport
from colonnade.tableformat.compaction.optimize import Choices, plan_table
from colonnade.tableformat.compaction.purge import purge_table
from colonnade.tableformat.compaction.schedule import is_due
from colonnade.tableformat.table.database import ArrowDatabase

Compact = Callable[[ArrowDatabase, CompactionPlan], CompactionReport]
"""Compact one table by its policy, in this process or on Spark; the plan lists its groups."""


@dataclass(slots=True)
class TableRound:
    """What a round did to one table, and the work that its policy still asks for (`left`).

    `waits` says that the table had something to compact, and its schedule left it to a later round.
    """

    table: str
    groups: int = 0
    conflicts: int = 0
    rowsets_removed: int = 0
    rowsets_added: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    seconds: float = 0.0
    left: Distance | None = None
    waits: bool = False


@dataclass(frozen=True, slots=True)
class VacuumRound:
    """What vacuum removed; `floor` is the oldest epoch that can still be read.

    `held_by` names the pins, leases and consumers that keep the floor from being a later epoch.
    """

    files: int
    bytes: int
    epochs: int
    floor: int
    held_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepError:
    """Why one step of a round failed."""

    step: str
    kind: str
    message: str


@dataclass(slots=True)
class Round:
    """One round: what it did, how long it took, and how far the tables are from their policy.

    `checkpoint` is the epoch of the checkpoint that the round itself wrote, if any; compactions
    may write their own. `vacuum` is None if that step failed. `epoch` is None if an error ended
    the round. `warnings` are sentences about work that maintenance does not do by itself.
    """

    time: datetime
    database: str
    epoch: int | None
    seconds: float = 0.0
    tables: list[TableRound] = field(default_factory=list)
    vacuum: VacuumRound | None = None
    checkpoint: int | None = None
    errors: list[StepError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def read_plans(log: Log, head: Snapshot) -> list[Planned]:
    """Plan what a round would compact now, and what waits for its schedule. Reads only the log.

    Raises InvalidInputError that names the table property whose value is invalid.
    """
    return most_first(_planned(log, head, table) for table in head.tables.values())


def run_round(database: ArrowDatabase, log: Log, compact: Compact) -> Round:
    """Compact, vacuum and write a checkpoint; return the result of each step. Changes no row.

    Raises InvalidInputError before it changes anything if the store is read-only. The returned
    round holds the errors of its steps; the next round tries the failed steps again.
    """
    log.store.require_writable()
    started = time.monotonic()
    done = Round(datetime.now(timezone.utc), database.path, database.refresh().epoch)
    for table in database._snapshot.tables.values():
        if table.range_tombstones:
            with _step(done, f"clean {table.name}"):
                clean_table(log, database._snapshot, table.id)
        if table.lifetimes is not None:
            with _step(done, f"purge {table.name}"):
                purge_table(log, database._refresh(), table.id)
    found = []
    for table in database._refresh().tables.values():
        with _step(done, f"plan {table.name}"):
            found.append(_planned(log, database._snapshot, table))
    for wanted in most_first(found):
        if wanted.waits:
            done.tables.append(TableRound(wanted.plan.name, waits=True))
            continue
        with _step(done, f"compact {wanted.plan.name}"):
            done.tables.append(_table_round(compact(database, wanted.plan)))
    with _step(done, "vacuum"):
        result = database.vacuum()
        done.vacuum = VacuumRound(
            len(result.files),
            result.bytes_removed,
            result.epochs_removed,
            result.floor,
            result.held_by,
        )
    with _step(done, "checkpoint"):
        head, hint = database._refresh(), read_hint(log.store)
        if checkpoint_due(head.epoch, hint and hint[0].epoch):
            write_checkpoint(log.store, head, log.limits)
            done.checkpoint = head.epoch
    with _step(done, "look again"):
        _look_again(done, log, database._refresh())
    done.seconds = round(time.monotonic() - started, 3)
    return done


def _planned(log: Log, head: Snapshot, table: TableState) -> Planned:
    plan = _plan(log, head, table)
    return Planned(plan, waits=bool(plan.groups) and not is_due(log, head, table))


def _plan(log: Log, head: Snapshot, table: TableState) -> CompactionPlan:
    return plan_table(log, head, table, Choices())[0]


def _table_round(report: CompactionReport) -> TableRound:
    return TableRound(
        report.table,
        groups=report.groups,
        conflicts=len(report.conflicts),
        rowsets_removed=report.rowsets_removed,
        rowsets_added=report.rowsets_added,
        bytes_read=report.bytes_read,
        bytes_written=report.bytes_written,
        seconds=report.seconds,
    )


def _look_again(done: Round, log: Log, head: Snapshot) -> None:
    """Record how far each table now is from its policy, including tables not compacted."""
    done.epoch = head.epoch
    done.warnings = [said for each in head.tables.values() if (said := warn_of_end(each))]
    rounds = {each.table: each for each in done.tables}
    for state in sorted(head.tables.values(), key=lambda state: state.name):
        each = rounds.get(state.name)
        if each is None:
            each = TableRound(state.name)
            done.tables.append(each)
        with _step(done, f"look again at {state.name}"):
            each.left = distance(_plan(log, head, state))


@contextmanager
def _step(done: Round, name: str) -> Iterator[None]:
    """Record a ColonnadeError and continue; any other exception is a bug and ends the round."""
    try:
        yield
    except ColonnadeError as error:
        done.errors.append(StepError(name, error.kind, error.message))
