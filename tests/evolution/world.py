"""A table whose columns and rules change between statements, beside a plain model of each epoch."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.columns.default import encode_value
from colonnade.manifests.model.schema import IdentityColumn, TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.design.default_sql import default_sql
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.job import plan_write
from tests.evolution.columns import NARROW, OTHERS, WIDER, Column, Columns, Generated
from tests.evolution.state import Row, State
from tests.widened import model_of

# Updates replace columns, and compactions copy stored blocks, however few rows there are.
LIMITS = Limits(in_place_bytes=-(2**20), segment_rowsets=4, listed_rowsets=3, copied_rows=1)

FLAT = frozenset(
    ("long", *OTHERS, *WIDER, *(wider for each in WIDER.values() for wider in each))
).difference({"void"})
"""Types that conditions, updates and defaults state."""

EXPRESSIONS: tuple[tuple[str, str, str, Callable[[Any], Any]], ...] = (
    ("int", "long", "{} * 2 + 1", lambda value: value * 2 + 1),
    ("short", "string", "CAST({} AS STRING)", str),
    ("date", "int", "year({})", lambda days: 1970 if days >= 0 else 1969),
)
"""The type of a source, the type of a generated column, its expression, and that in Python."""


@dataclass
class World:
    """A table, and its model at every epoch.

    `batches` are the numbers of rows of appends, and `depth` says how deep columns are nested.
    A `placed` table is sorted and partitioned by its first columns. A `ruled` one has an identity
    column and generated columns.
    """

    store: ObjectStore
    seed: int
    batches: tuple[int, ...] = (1, 5, 40)
    placed: bool = False
    ruled: bool = False
    depth: int = 2
    epochs: dict[int, State] = field(default_factory=dict)
    given: dict[int, set[int]] = field(default_factory=dict)
    """The values of identity columns, by the key of the column."""

    def __post_init__(self) -> None:
        self.rng = random.Random(self.seed)
        self.make, self.next_row = Columns(self.rng), 0
        self.location = Location(self.store, "t", exists=True)
        create_database(self.store, lone_table=False)
        flat = tuple(self.make.column(each) for each in NARROW)
        nested = tuple(self.make.nested(self.depth) for _ in range(3))
        rules = self.new_rules() if self.ruled else ()
        state = State((Column(0, "k", "long"), *flat, *nested, *rules))
        if self.placed:
            small, short, whole, real, number, text = (each.name for each in flat)
            layout = [f"bucket(2, {whole})", f"truncate(60, {short})", f"truncate(1, {text})"]
            key = [f"{small} desc", real, whole]
            state = replace(state, key=(1, 4, 3), layout=(3, 2, 6, 5))
            self.create(state, key, [*layout, f"bucket(2, {number})"])
        else:
            self.create(state)

    def new_rules(self) -> tuple[Column, ...]:
        """Return an identity column, and generated columns with the columns that they read."""
        spec = IdentityColumn(
            start=self.rng.choice((1, -5, 100)),
            step=self.rng.choice((1, -1, 3, -7)),
            always=self.rng.random() < 0.5,
        )
        kind = self.rng.choice(("int", "long"))  # A narrower type would run out in a long life.
        found = [replace(self.make.column(kind), nullable=False, rule=spec)]
        for source, kind, sql, compute in EXPRESSIONS:
            read = self.make.column(source)
            rule = Generated(read.key, sql.format(read.name), compute)
            found += [read, replace(self.make.column(kind), rule=rule)]
        return tuple(found)

    def create(
        self, state: State, key: Iterable[str] = (), layout: Iterable[str] = (), **job: Any
    ) -> None:
        """Create the table as a state describes it, or replace it, by an epoch."""
        rules = {c.name: c.rule for c in state.columns}
        design = new_table(
            "t",
            self.schema(state.columns),
            sort_key=[*key],
            partition_by=[*layout],
            identity={n: r for n, r in rules.items() if isinstance(r, IdentityColumn)},
            generated={n: r.sql for n, r in rules.items() if isinstance(r, Generated)},
        )
        log = self.log()
        base = log.reader.read_head()
        planned = plan_write(self.location, base, "append", create=design, **job)
        after = commit_written(planned, (), log, base)
        self.epochs[after.epoch] = state
        self.open_again()

    def open_again(self) -> None:
        """Open two handles. Each of them may later lag behind the other."""
        self.tables = [self.open(), self.open()]

    def log(self) -> Log:
        return Log(self.store, checkpoint_interval=3, limits=LIMITS, pause=lambda seconds: None)

    def open(self) -> ArrowTable:
        log = self.log()
        return ArrowTable(self.location, log, log.reader.read_head())

    def database(self) -> ArrowDatabase:
        log = self.log()
        return ArrowDatabase(self.store, log, log.reader.read_head())

    @staticmethod
    def schema(columns: tuple[Column, ...]) -> TableSchema:
        return TableSchema(fields=tuple(each.field() for each in columns))

    @property
    def epoch(self) -> int:
        return max(self.epochs)

    @property
    def state(self) -> State:
        return self.epochs[self.epoch]

    @property
    def rows(self) -> tuple[Row, ...]:
        return self.state.rows

    def lags(self, table: ArrowTable) -> bool:
        """Return whether a handle knows an earlier epoch than the newest one."""
        return table.epoch < self.epoch

    def expected(self, epoch: int, columns: tuple[Column, ...] | None = None) -> pa.Table:
        """Return the rows of an epoch in the order of `k`, with its columns or with other ones."""
        state = self.epochs[epoch]
        rows = sorted(state.rows, key=lambda row: row[0])
        if columns is not None:
            mine = {c.key for c in state.columns}
            absent = {c.key: c.initial for c in columns if c.key not in mine}
            rows = [{**row, **absent} for row in rows]
        return self.batch(columns or state.columns, rows)

    def batch(self, columns: Iterable[Column], rows: Iterable[Row]) -> pa.Table:
        """Rows as a user states them, with the columns that are given."""
        columns, rows = tuple(columns), tuple(rows)
        arrow = arrow_schema(self.schema(columns))
        values = [[c.shown(row.get(c.key)) for row in rows] for c in columns]
        arrays = [pa.array(v, f.type) for v, f in zip(values, arrow, strict=True)]
        return pa.Table.from_arrays(arrays, schema=arrow)

    def attempt(
        self,
        act: Callable[[], int | None],
        after: State,
        *,
        allowed: bool = True,
        perhaps: str | None = None,
        between: State | None = None,
    ) -> None:
        """Do something, and expect a state. What a rule forbids is refused and changes nothing.

        An error with the text `perhaps` is such a refusal, too. Epochs `between` may only draw
        values, or add the columns of rows.
        """
        before = self.state
        try:
            epoch = act()
        except InvalidInputError as error:
            if allowed and after.keeps_rules() and (perhaps is None or perhaps not in str(error)):
                raise
        else:
            assert allowed, "this is refused"
            assert after.keeps_rules(), "a rule of the table forbids this"
            self.landed(epoch, after, between)
            return
        for epoch in range(self.epoch + 1, self.open().epoch + 1):
            self.epochs[epoch] = between or before

    def once_placing(self, column: Column) -> str | None:
        """Return what a refusal says of a column that RowSets may be sorted or partitioned by."""
        found = any(each.is_placing(column) for each in self.epochs.values())
        return "partitioned by" if found else None

    def landed(self, epoch: int | None, after: State, between: State | None = None) -> None:
        """Note the state of a new epoch; None or an older epoch means that nothing happened."""
        if epoch is None or epoch in self.epochs:
            return
        before = between or self.state
        self.epochs |= dict.fromkeys(range(self.epoch + 1, epoch), before)
        self.epochs[epoch] = self._with_given(after, epoch)

    def _with_given(self, state: State, epoch: int) -> State:
        """Return the state with the values that the table gave. It may give no value twice."""
        column = state.identity
        if column is None:
            return state
        assert isinstance(column.rule, IdentityColumn)
        found = self.open().scan(["k", column.name], epoch=epoch).to_arrow().to_pydict()
        values = dict(zip(found["k"], found[column.name], strict=True))
        known, rows = self.given.setdefault(column.key, set()), []
        for row in state.rows:
            if row[column.key] is None:
                value = values[row[0]]
                assert value not in known, f"the identity {value} is given twice"
                assert (value - column.rule.start) % column.rule.step == 0
                row = {**row, column.key: value}
            known.add(row[column.key])
            rows.append(row)
        return state.with_rows(rows)

    def flat(self) -> tuple[Column, ...]:
        """The columns that conditions and updates name."""
        return tuple(c for c in self.state.columns if c.type in FLAT)

    def condition(self) -> tuple[str, Callable[[Row], bool]]:
        """A condition, and the same as a function of a row."""
        column = self.rng.choice(self.flat())
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
        return default_sql(column.type, encode_value(value, column.type)) if other else str(value)

    def stated(self, column: Column, value: Any) -> Any:
        """A value as an update or an alteration states it."""
        if value is None:
            return None
        text = isinstance(value, str) or column.type in OTHERS
        return self.sql(column, value) if text else model_of(value, column.type)
