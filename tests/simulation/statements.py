"""One statement of a writer, as a value: how to ask for it, and what it must do to plain rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import pyarrow as pa

from colonnade import ArrowTable, IdentityColumn
from colonnade.manifests.model.columns.properties import names_column
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.transaction.transaction import (
    ArrowTransaction,
    ArrowTransactionTable,
)
from colonnade.tableformat.types.input.column_types import as_table_schema
from colonnade.tableformat.write.job import plan_write
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings
from tests.simulation.nested import INNER, inner_types, nested_columns
from tests.simulation.rows import (
    ALL_ROWS,
    NUMBER,
    SHAPE,
    TWICE,
    Condition,
    Row,
    Rows,
    Shape,
    Values,
    cell,
    computed_value,
    given_value,
)

Kind = Literal[
    "append",
    "delete",
    "delete_range",
    "update",
    "upsert",
    "overwrite",
    "replace",
    "replace_partitions",
    "restore",
    "restore_all",
    "create",
    "drop",
    "add_column",
    "backfill",
    "replace_table",
    "merge",
    "delete_keys",
    "rekey",
]


@dataclass(frozen=True)
class Step:
    """One statement on one table.

    Its rows have the columns `given`, too, with values that depend on `salt`; a name with dots is
    that of a field inside `INNER`. With `evolve` the table gets these columns and fields. A fill
    computes the one column `given`. A new one is NOT NULL if `value` is 1. A table that replaces
    another one has the generated and identity columns `made`.
    """

    kind: Kind
    table: str
    rows: Values = ()
    where: Condition = ALL_ROWS
    value: int = 0
    epoch: int = 0
    shape: Shape = SHAPE
    given: tuple[str, ...] = ()
    salt: int = 0
    evolve: bool = False
    made: tuple[str, ...] = ()

    def batch(self, schema: pa.Schema | None = None) -> pa.Table:
        """Its rows for a table with these columns; None: for a new table.

        Rows must have every field that the table has inside `INNER`.
        """
        made = self.shape.batch(self.rows, self.salt, self._inner_field(schema))
        for name in self.given:
            if "." not in name:
                own = [given_value(i, self.salt) for i in made["id"].to_pylist()]
                made = made.append_column(
                    name, pa.array(own, pa.int64() if self.evolve else pa.int32())
                )
        return made

    def _inner_field(self, schema: pa.Schema | None) -> pa.Field:
        """The column `INNER` of the rows, which is wide if the table may change."""
        columns = nested_columns(self.shape.nested)
        given = [name.rpartition(".")[2] for name in self.given if "." in name]
        if schema is None:
            return columns.inner_field(given)
        own = schema.field(INNER)
        if not self.evolve:
            return own
        return columns.inner_field(dict.fromkeys((*inner_types(own.type), *given)), wide=True)

    def compute(self, batch: pa.RecordBatch) -> pa.Array:
        """The values that a fill gives its column in some rows."""
        found = [computed_value(v, self.salt) for v in batch["v"].to_pylist()]
        if self.given != (INNER,):
            return pa.array(found, pa.int32())
        target = batch.schema.field(INNER).type
        fields = [dict.fromkeys(inner_types(target), value) for value in found]
        columns = nested_columns(self.shape.nested)
        return columns.inner(batch["id"].to_pylist(), fields, target)

    @property
    def sources(self) -> list[str]:
        """The columns that a fill reads."""
        return ["v", "id", INNER] if self.given == (INNER,) else ["v"]

    @property
    def key(self) -> list[str]:
        """What tells rows of a table apart."""
        return ["id"] if self.shape.copies == 1 else ["id", "copy"]

    def ask(self, table: ArrowTable, commit: CommitSettings) -> int | None:
        """Ask a table for it; returns the epoch that it was told."""
        match self.kind:
            case "append":
                return table.append(self.batch(table.schema), evolve=self.evolve, commit=commit)
            case "add_column":
                [name], nullable = self.given, self.value != 1
                return table.add_column(
                    name, pa.int32(), self.compute, columns=["v"], nullable=nullable, commit=commit
                ).epoch
            case "backfill":
                [name] = self.given
                return table.backfill(
                    name, self.compute, self.where.sql(), columns=self.sources, commit=commit
                ).epoch
            case "replace_table":
                return self._replace(table, commit)
            case "overwrite":
                return table.overwrite(self.batch(table.schema), commit=commit)
            case "replace":
                return table.overwrite(self.batch(table.schema), self.where.sql(), commit=commit)
            case "replace_partitions":
                return table.overwrite_partitions(self.batch(table.schema), commit=commit)
            case "restore":
                return table.restore(epoch=self.epoch, commit=commit)
            case "delete":
                return table.delete(self.where.sql(), count_rows=True, commit=commit).epoch
            case "delete_range":
                return table.delete_range(self.where.sql() or "", commit=commit).epoch
            case "update":
                return table.update({"v": self.value}, self.where.sql(), commit=commit).epoch
            case "upsert":
                return table.upsert(self.batch(table.schema), self.key, commit=commit).epoch
        raise AssertionError(self.kind)

    def _replace(self, table: ArrowTable, commit: CommitSettings) -> int:
        """Replace a table by another one of its name, with the columns of the rows."""
        log, rows = table._log, self.batch()
        columns = [*rows.schema, *((name, pa.int64()) for name in self.made)]
        design = new_table(
            self.table,
            as_table_schema(pa.schema(columns)),
            properties={k: v for k, v in table._state.properties.items() if not names_column(k)},
            identity={NUMBER: IdentityColumn(start=5)} if NUMBER in self.made else None,
            generated={TWICE: "v * 2"} if TWICE in self.made else None,
        )
        location = Location(log.store, self.table, exists=True)
        job = plan_write(
            location,
            table._snapshot,
            "append",
            create=design,
            replace=True,
            commit=commit,
            limits=log.limits,
        )
        # The values of a new identity column can be drawn once its table exists.
        entries = write_rows(job, rows.to_batches(), log.store) if self.rows else ()
        return commit_written(job, entries, log).epoch

    def ask_within(self, tx: ArrowTransaction) -> None:
        """Ask a transaction for it."""
        if self.kind == "create":
            tx.create(self.table, self.shape.schema()).append(self.batch())
        elif self.kind == "drop":
            tx.drop(self.table)
        else:
            self._ask_table(tx.table(self.table))

    def _ask_table(self, table: ArrowTransactionTable) -> None:
        match self.kind:
            case "append":
                table.append(self.batch(table.schema))
            case "overwrite":
                table.overwrite(self.batch(table.schema))
            case "replace":
                table.overwrite(self.batch(table.schema), self.where.sql())
            case "replace_partitions":
                table.overwrite_partitions(self.batch(table.schema))
            case "delete":
                table.delete(self.where.sql())
            case "update":
                table.update({"v": self.value}, self.where.sql())
            case "upsert":
                table.upsert(self.batch(table.schema), self.key)
            case _:
                raise AssertionError(self.kind)

    def decided_by_bounds(self) -> Step:
        """Return this deletion of a range as one of whole RowSets of its base."""
        return replace(self, kind="delete")

    def after(
        self, base: Rows, head: Rows, then: Rows, epoch: int, *, serializable: bool
    ) -> dict[int, Row]:
        """What it makes of `head` in an epoch, evaluated on `base`; `then` is what it restores.

        Raises AssertionError where it should have run again, or have been refused.
        """
        if self.kind == "append":
            assert head.keys().isdisjoint(dict(self.rows)), "an append landed twice"
        if self.kind in ("overwrite", "restore", "replace_table"):
            assert head == base, f"{self.kind} lost what came after its base"
        match self.kind:
            case "append" | "upsert":
                return {**head, **self.written(head, epoch)}
            case "overwrite" | "replace_table":
                return self.written({}, epoch)
            case "restore":
                return dict(then)
            case "add_column" | "backfill":
                return dict(head)
            case "delete_range":
                return {i: row for i, row in head.items() if not self.where.holds(i, row.v)}
        chosen, now = self.where.of(base), self.where.of(head)
        # It has not looked at what an update replaces in place, and may come before or after it.
        blind = self._is_blind()
        if self.kind == "replace_partitions":
            assert now.keys() <= chosen.keys(), "rows came into a partition that was replaced"
        elif serializable or self.kind == "replace":
            same = chosen.keys() == now.keys() if blind else chosen == now
            assert same, f"{self.kind} is not as if it had run alone"
        met = {i for i, row in chosen.items() if i in head and head[i].born == row.born}
        if not blind:
            assert all(head[i] == chosen[i] for i in met), f"{self.kind} of a row that had moved"
        if self.kind == "update":
            changed = {i: chosen[i]._replace(v=self.value, written=epoch) for i in met}
            return {**head, **changed}
        kept = {i: row for i, row in head.items() if i not in met}
        return {**kept, **self.written({}, epoch)}

    def _is_blind(self) -> bool:
        """Whether it takes rows without a look at what an update may replace in place."""
        if self.kind == "replace_partitions":
            return not self.where.values[0]
        return self.kind == "delete" and self.where.test in ("all", "ids", "between")

    def on_layout(self, width: int) -> Step:
        """Return this step for a table with partitions of a width; some steps depend on it."""
        if self.kind != "replace_partitions":
            return self
        cells = sorted({cell(v, width) for _, v in self.rows})
        return replace(self, where=Condition("cells", (width, *cells)))

    def written(self, before: Rows, epoch: int) -> dict[int, Row]:
        """Return its rows as an epoch writes them; known rows keep the epoch of their birth."""
        return {i: Row(v, before[i].born if i in before else epoch, epoch) for i, v in self.rows}
