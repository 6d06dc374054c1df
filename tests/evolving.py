"""A table whose columns change between statements, beside a plain model of it at every epoch."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import ConflictError, InvalidInputError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.column_default import encode_value
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    RenameColumn,
    SetDefault,
    WidenColumn,
)
from colonnade.tableformat.table.default_sql import default_sql
from colonnade.tableformat.table.design import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.job import plan_write
from tests.evolving_columns import NARROW, OTHERS, WIDER, Column, Columns
from tests.widened import model_of

# Updates replace columns, and compactions copy stored blocks, however few rows there are.
LIMITS = Limits(in_place_bytes=-(2**20), segment_rowsets=4, listed_rowsets=3, copied_rows=1)


_NAMED = frozenset(("long", *OTHERS, *WIDER, *(wider for each in WIDER.values() for wider in each)))


@dataclass
class World:
    """A table, and its columns and rows at every epoch. Rows are values by the key of a column."""

    store: ObjectStore
    seed: int
    batches: tuple[int, ...] = (1, 5, 40)
    """The numbers of rows of appends."""
    placed: bool = False
    """Whether the table is sorted and partitioned by its first columns, which then stay."""
    epochs: dict[int, tuple[tuple[Column, ...], tuple[Mapping[int, Any], ...]]] = field(
        default_factory=dict
    )

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.make, self.next_row = Columns(self.rng), 0
        location = Location(self.store, "t", exists=True)
        self.location = location
        base = create_database(self.store, lone_table=False)
        flat = (self.make.column(each) for each in NARROW)
        columns = (Column(0, "k", "long"), *flat, *(self.make.nested() for _ in range(3)))
        key, layout = self._place(columns) if self.placed else ([], [])
        design = new_table("t", self.schema(columns), key, {}, None, layout)
        job = plan_write(location, base, "append", create=design)
        commit_written(job, (), self.log(), base)
        self.tables = [self.open(), self.open()]
        self.epochs[1] = columns, ()

    @staticmethod
    def _place(columns: tuple[Column, ...]) -> tuple[list[str], list[str]]:
        small, short, whole, real, number, text = (each.name for each in columns[1:7])
        layout = [f"bucket(2, {whole})", f"truncate(60, {short})", f"truncate(1, {text})"]
        return [f"{small} desc", real, whole], [*layout, f"bucket(2, {number})"]

    def _stays(self, column: Column) -> bool:
        return self.placed and column.key <= len(NARROW)

    def log(self) -> Log:
        return Log(self.store, checkpoint_interval=3, limits=LIMITS, pause=lambda seconds: None)

    def open(self) -> ArrowTable:
        log = self.log()
        return ArrowTable(self.location, log, log.read_head())

    @staticmethod
    def schema(columns: tuple[Column, ...]) -> TableSchema:
        return TableSchema(fields=tuple(each.field() for each in columns))

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.epochs[max(self.epochs)][0]

    @property
    def rows(self) -> tuple[Mapping[int, Any], ...]:
        return self.epochs[max(self.epochs)][1]

    def expected(self, epoch: int) -> pa.Table:
        """The rows of an epoch in the order of their keys."""
        columns, rows = self.epochs[epoch]
        return self._table(columns, sorted(rows, key=lambda row: row[0]))

    def _table(self, columns: tuple[Column, ...], rows: Any) -> pa.Table:
        arrow = arrow_schema(self.schema(columns))
        values = [[c.shown(row.get(c.key)) for row in rows] for c in columns]
        arrays = [pa.array(v, f.type) for v, f in zip(values, arrow, strict=True)]
        return pa.Table.from_arrays(arrays, schema=arrow)

    def _flat(self) -> tuple[Column, ...]:
        """The columns that conditions, updates and defaults name."""
        return tuple(c for c in self.columns if c.type in _NAMED)

    def step(self) -> None:
        """Do something at random by one of two handles. A handle may lag behind the other."""
        table = self.rng.choice(self.tables)
        does = self.rng.choice(
            (
                *(self.append, self.append, self.delete, self.update, self.update, self.widen),
                *(self.widen, self.widen, self.reshape, self.compact, self.restore),
                *(self.change_inside, self.change_inside, self.change_inside),
            )
        )
        try:
            does(table)
        except ConflictError:
            assert table.epoch < max(self.epochs), "only a handle that lags behind is refused"
            table.refresh()

    def _landed(self, epoch: int, columns: tuple[Column, ...], rows: Any) -> None:
        if epoch not in self.epochs:
            assert epoch == max(self.epochs) + 1
            self.epochs[epoch] = columns, tuple(rows)

    def append(self, table: ArrowTable) -> None:
        table.refresh()
        count = self.rng.choice(self.batches)
        given = [c for c in self.columns if c.key == 0 or self.rng.random() < 0.8]
        rows = [
            {
                c.key: c.default
                if c not in given
                else self.make.value(c)
                if c.key
                else self.next_row + n
                for c in self.columns
            }
            for n in range(count)
        ]
        self.next_row += count
        epoch = table.append(self._table(tuple(given), rows))
        self._landed(epoch, self.columns, (*self.rows, *rows))

    def condition(self) -> tuple[str, Any]:
        """A condition, and the same as a function of a row."""
        column = self.rng.choice(self._flat())
        value = self.make.value(column)
        if column.key == 0:
            value = self.rng.randrange(self.next_row + 1)
        if value is None:
            return f"{column.name} IS NULL", lambda row: row.get(column.key) is None
        literal = self.sql(column, value)
        if self.rng.random() < 0.5:
            return f"{column.name} = {literal}", lambda row: row.get(column.key) == value
        return (
            f"{column.name} > {literal}",
            lambda row: row.get(column.key) is not None and row[column.key] > value,
        )

    @staticmethod
    def sql(column: Column, value: Any) -> str:
        if isinstance(value, str):
            return f"'{value}'"
        other = column.type in OTHERS
        return default_sql(column.type, encode_value(value)) if other else str(value)

    def stated(self, column: Column, value: Any) -> Any:
        """A value as an update or an alteration states it."""
        if value is None:
            return None
        text = isinstance(value, str) or column.type in OTHERS
        return self.sql(column, value) if text else model_of(value, column.type)

    def delete(self, table: ArrowTable) -> None:
        text, met = self.condition()
        table.refresh()
        epoch = table.delete(text).epoch
        if epoch is not None:
            self._landed(epoch, self.columns, (row for row in self.rows if not met(row)))

    def update(self, table: ArrowTable) -> None:
        text, met = self.condition()
        table.refresh()
        columns = self._flat()[1:]
        if not columns:
            return
        column = self.rng.choice(columns)
        value = self.make.value(column)
        epoch = table.update({column.name: self.stated(column, value)}, text).epoch
        if epoch is not None:
            rows = ({**row, column.key: value} if met(row) else row for row in self.rows)
            self._landed(epoch, self.columns, rows)

    def _alter(self, table: ArrowTable, change: Alteration, columns: tuple[Column, ...]) -> None:
        self._landed(table.alter(change), columns, self.rows)

    def widen(self, table: ArrowTable) -> None:
        """By a handle that may lag behind, as all alterations."""
        narrow = [each for each in self.columns if each.type in WIDER]
        if narrow and table.epoch == max(self.epochs):
            column = self.rng.choice(narrow)
            wider = replace(column, type=self.rng.choice(WIDER[column.type]))
            columns = tuple(wider if each == column else each for each in self.columns)
            try:
                self._alter(table, WidenColumn((column.name,), wider.type), columns)
            except InvalidInputError as error:
                if not self._stays(column) or "to other partitions" not in error.message:
                    raise

    def change_inside(self, table: ArrowTable) -> None:
        """By a handle that may lag behind, too."""
        column = self.rng.choice(self.columns[1:])
        found = self.make.change_inside(column) if column.children else None
        if found is not None and table.epoch == max(self.epochs):
            columns = tuple(found[0] if each is column else each for each in self.columns)
            self._alter(table, found[1], columns)

    def reshape(self, table: ArrowTable) -> None:
        table.refresh()
        column = self.rng.choice(self.columns[1:])
        at = self.columns.index(column)
        rest = (*self.columns[:at], *self.columns[at + 1 :])
        flat = self.rng.random() < 0.5
        new = self.make.column(self.rng.choice(NARROW)) if flat else self.make.any(2)
        value = self.make.value(column) if column.type in _NAMED else column.default
        match self.rng.randrange(4):
            case 0:
                self._add(table, new)
            case 1 if len(rest) > 3 and not self._stays(column):
                self._alter(table, DropColumn((column.name,)), rest)
            case 2:
                named = replace(column, name=new.name)
                columns = (*self.columns[:at], named, *self.columns[at + 1 :])
                self._alter(table, RenameColumn((column.name,), new.name), columns)
            case 3 if value != column.default:
                other = replace(column, default=value)
                columns = (*self.columns[:at], other, *self.columns[at + 1 :])
                change = SetDefault((column.name,), self.stated(column, value))
                self._alter(table, change, columns)

    def _add(self, table: ArrowTable, new: Column) -> None:
        """Add a column. Its first default is what earlier rows have in it for ever."""
        value = self.make.value(new) if new.type in _NAMED else None
        change = AddColumn(new.field(), default=self.stated(new, value))
        rows = tuple({**row, new.key: value} for row in self.rows)
        columns = (*self.columns, replace(new, default=value))
        self._landed(table.alter(change), columns, rows)

    def compact(self, table: ArrowTable) -> None:
        table.refresh()
        table.optimize().option("min-rowsets", 2).executeCompaction()
        for epoch in range(max(self.epochs) + 1, table.refresh().epoch + 1):
            self._landed(epoch, self.columns, self.rows)

    def restore(self, table: ArrowTable) -> None:
        then = self.rng.choice(sorted(self.epochs))
        epoch = table.restore(epoch=then)
        self._landed(epoch, *self.epochs[then])
