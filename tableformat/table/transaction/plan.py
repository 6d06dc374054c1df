"""What a transaction has done so far, as a value, and the operations that commit it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.commit.change import DeletedRows
from colonnade.manifests.ids import TableId
from colonnade.manifests.model.columns.statics import with_own_statics
from colonnade.manifests.model.deletion_vector import DeletionVector
from colonnade.manifests.model.entries import DeletionVectorEntry
from colonnade.manifests.model.operations import (
    CreateTable,
    DropRowSet,
    DropTable,
    Operation,
    SetConsumer,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.statements.statement import COUNTED, Statement
from colonnade.tableformat.table.transaction.table_changes import TableWork

Vectors = Callable[[str, DeletionVector], DeletionVectorEntry]
"""Makes the entry of a deletion vector, for a table with this object prefix."""


@dataclass(frozen=True, slots=True)
class TransactionPlan:
    """What a transaction has done so far.

    `dropped` are tables of the base, and `created` the new tables by id. `work` has the changes of
    rows by table. `consumers` are those that it moves, by name. `done` names the statements, for
    the history, and `counts` are their counts of rows together. The value is immutable, so a failed
    statement changes nothing.
    """

    dropped: tuple[str, ...] = ()
    created: Mapping[str, CreateTable] = field(default_factory=dict)
    work: Mapping[str, TableWork] = field(default_factory=dict)
    consumers: Mapping[str, SetConsumer] = field(default_factory=dict)
    done: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTED, 0))

    def with_table(self, design: CreateTable) -> TransactionPlan:
        """Return the plan that also creates a table."""
        return replace(
            self,
            created={**self.created, design.table: design},
            done=(*self.done, f"create {design.name}"),
        )

    def with_consumer(self, moved: SetConsumer) -> TransactionPlan:
        """Return the plan that also moves a consumer."""
        if self.consumers.get(moved.name) is not None:
            return self
        return replace(
            self,
            consumers={**self.consumers, moved.name: moved},
            done=(*self.done, f"consumer {moved.name}"),
        )

    def with_work(self, work: TableWork, statement: Statement, name: str) -> TransactionPlan:
        """Return the plan after a statement on the table `name`, whose changes are now `work`."""
        counted = statement.counts.metrics()
        return replace(
            self,
            work={**self.work, work.table: work},
            done=(*self.done, f"{statement.operation} {name}"),
            counts={key: count + counted.get(key, 0) for key, count in self.counts.items()},
        )

    def without(self, table: str, name: str, *, known: bool) -> TransactionPlan:
        """Return the plan without a table. A table that the base knows is also dropped."""
        gone = with_own_statics(table)
        return replace(
            self,
            dropped=(*self.dropped, table) if known else self.dropped,
            created={key: each for key, each in self.created.items() if key != table},
            work={key: each for key, each in self.work.items() if key not in gone},
            done=(*self.done, f"drop {name}"),
        )

    def only(self, tables: Collection[str]) -> TransactionPlan:
        """Return the plan with what it does to some tables, and nothing else."""
        return TransactionPlan(
            dropped=tuple(each for each in self.dropped if each in tables),
            created={key: each for key, each in self.created.items() if key in tables},
            work={key: each for key, each in self.work.items() if key in tables},
        )

    @property
    def touched(self) -> tuple[str, ...]:
        """The ids of all tables that it creates, changes or drops."""
        return tuple(dict.fromkeys((*self.dropped, *self.written)))

    @property
    def written(self) -> tuple[str, ...]:
        """The ids of the tables that it creates or whose rows it changes."""
        return tuple(dict.fromkeys((*self.created, *self.work)))

    def rows(self) -> tuple[DeletedRows, ...]:
        """Return the deleted and moved rows.

        When the transaction also adds or changes rows, deleted rows count as moved. The new rows
        may have been computed from deleted ones, so a concurrent delete of one must be a conflict.
        """
        rows = tuple(row for work in self.work.values() for row in work.rows)
        if not any(work.added or work.columns for work in self.work.values()):
            return rows
        return tuple(replace(row, kind="update") if row.kind == "delete" else row for row in rows)

    def origins(self) -> dict[str, tuple[RowOrigins, ...]]:
        """Return which rows of the base the added rows replace, for tables with such rows."""
        found = {table: work.row_origins() for table, work in self.work.items()}
        return {
            table: each for table, each in found.items() if any(origins.data for origins in each)
        }

    def operations(self, base: Snapshot, vectors: Vectors) -> tuple[Operation, ...]:
        """Return the operations of its epoch. `vectors` makes the entries of deletion vectors."""
        names = {table.name for table in self.created.values()}
        replaced = [t for t in self.dropped if base.tables[TableId(t)].name in names]
        return (
            # Like any overwrite, the first operation fails rather than lose rows added since the
            # base.
            *(DropRowSet(table=table, rowsets=()) for table in replaced),
            *(DropTable(table=table) for table in self.dropped),
            *self.created.values(),
            *(op for w in self.work.values() for op in w.operations(partial(vectors, w.prefix))),
            *self.consumers.values(),
        )
