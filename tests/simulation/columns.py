"""The model of extra columns, which are added and dropped beside the first ones.

A field inside the column `INNER` is an extra column, too, with dots in its name. Rows have a value
in it wherever they have the struct that it is in.

An alteration leaves no note, so the columns are those that the log states. The model checks that no
alteration loses a column, or changes the values of earlier rows. It takes the values from what
writers wanted.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.columns.widening import widens
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import AlterSchema, CreateTable, Restore
from colonnade.manifests.model.schema import SchemaField, TableSchema, type_text, walk
from tests.simulation.intents import Intent
from tests.simulation.keyed.rows import SCHEMA as KEYED_SCHEMA
from tests.simulation.nested import INNER, inner_fields, inner_types, nested_columns
from tests.simulation.rows import (
    FIRST,
    NUMBER,
    SHAPE,
    TWICE,
    Rows,
    Shape,
    State,
    computed_value,
    given_value,
)
from tests.simulation.statements import Step
from tests.strategies import identical

KNOWN = frozenset((*FIRST, TWICE, NUMBER, *KEYED_SCHEMA.names))
"""The columns that are not extra columns."""

Cells = Mapping[int, int | None]
"""The values of a row, by the keys of columns."""


@dataclass(frozen=True)
class Column:
    """An extra column. Its first id is its `key`, which it keeps when it widens."""

    key: int
    nullable: bool
    initial: int | None
    default: int | None


@dataclass(frozen=True)
class Columns:
    """The columns of one table beside the first ones, and their values by the ids of rows.

    `table` is the id of the table. `not_null` means that `v` is NOT NULL. `fields` are all columns
    as the log states them, also the first ones.
    """

    by_name: Mapping[str, Column] = field(default_factory=dict)
    cells: Mapping[int, Cells] = field(default_factory=dict)
    not_null: bool = False
    fields: tuple[SchemaField, ...] = ()
    table: str = ""

    @property
    def whole(self) -> list[str]:
        """The names of the extra columns that are not inside another one."""
        return [name for name in self.by_name if not _is_inside(name)]

    def altered(self, schema: TableSchema, rows: Collection[int]) -> Columns:
        """Return other columns of the same rows, which have the initial value of a new column."""
        columns = {name: _column(f) for name, f in _extra_fields(schema)}
        before = {column.key: column for column in self.by_name.values()}
        for name, column in columns.items():
            known = before.get(column.key, column)
            assert known.initial == column.initial, f"column {name} of earlier rows has changed"
        cells = {
            row: {c.key: self._value(row, c) for c in columns.values()}
            for row in (rows if columns else ())
        }
        not_null = not schema.field("v").nullable
        return Columns(columns, cells, not_null, tuple(schema.fields), self.table)

    def _value(self, row: int, column: Column) -> int | None:
        return self.cells.get(row, {}).get(column.key, column.initial)

    def written(self, step: Step, row: int, base: Columns) -> Cells:
        """The values of a row that a step wrote for the columns of its base."""
        assert base.by_name.keys() >= {*step.given}, f"rows landed without {step.given}"
        for name in self.by_name.keys() & base.by_name.keys():
            same = self.by_name[name].key == base.by_name[name].key
            assert same, f"rows landed whose column {name} was another one"
        stored = {
            column.key: given_value(row, step.salt)
            if name in step.given or _is_inside(name)
            else column.default
            for name, column in base.by_name.items()
        }
        return {c.key: stored.get(c.key, c.initial) for c in self.by_name.values()}

    def filled_by(self, step: Step) -> list[int]:
        """The keys of what a fill computes: a column, or all fields inside `INNER`."""
        [name] = step.given
        if name == INNER:
            return [column.key for name, column in self.by_name.items() if _is_inside(name)]
        return [self.by_name[name].key]

    def check_replaced(self, table: str, by: Columns, base: Columns) -> None:
        """Check that in another table of this name, one id means one column or field.

        A column keeps its ids if it has had its name and type since the base of the change. It may
        have widened since, which the new table does not know. A struct also keeps its ids where it
        has a field that a concurrent writer has dropped, because both writers know that field by
        the same id.
        """
        old, new = _meanings(self.fields), _meanings(by.fields)
        for number in old.keys() & new.keys():
            assert _is_same(old[number], new[number]), f"{new[number]} of {table} got an old id"
        first = {(each.name, type_text(each.type)) for each in base.fields}
        every = {(each.name, type_text(each.type)): each for each in self.fields}
        known = {key: each for key, each in every.items() if key in first}
        for column in by.fields:
            same = known.get((column.name, type_text(column.type)), column)
            ids, kept = ([each.id for each in walk([one])] for one in (column, same))
            assert ids == kept, f"{column.name} of {table} got another id"

    def check(self, table: str, rows: Rows) -> None:
        """Check that all rows have values, and none is NULL where a column is NOT NULL."""
        if self.by_name:
            assert self.cells.keys() == rows.keys(), f"{table} has rows without values"
        for name, column in self.by_name.items():
            found = {cells[column.key] for cells in self.cells.values()}
            assert column.nullable or None not in found, f"{name} of {table} is NULL"
        found = {row.v for row in rows.values()} if self.not_null else set()
        assert None not in found, f"v of {table} is NULL"

    def check_read(self, found: pa.Table, shape: Shape = SHAPE) -> None:
        """Compare the columns of rows that were read."""
        columns = {name: self.by_name[name] for name in self.whole}
        names = {*found.schema.names} - KNOWN
        assert names == columns.keys(), f"columns {names} were read"
        self._check_inside(found, shape)
        for name, column in columns.items():
            for row, value in zip(found["id"].to_pylist(), found[name].to_pylist(), strict=True):
                want = self.cells[row][column.key]
                assert value == want, f"column {name} of row {row} is {value} and not {want}"

    def _check_inside(self, found: pa.Table, shape: Shape) -> None:
        """Compare the fields inside `INNER`."""
        inside = {name.rpartition(".")[2]: name for name in self.by_name if _is_inside(name)}
        assert inner_types(found.schema.field(INNER).type).keys() == inside.keys(), (
            "a table has other fields inside"
        )
        ids, places = np.unique(found["id"].to_numpy(), return_inverse=True)
        fields = [
            {name: self.cells[row][self.by_name[whole].key] for name, whole in inside.items()}
            for row in ids.tolist()
        ]
        target = found.schema.field(INNER).type
        wanted = nested_columns(shape.nested).inner(ids.tolist(), fields, target)
        read = pa.concat_arrays([pa.nulls(0, target), *found[INNER].chunks])
        if not identical(read, wanted.take(pa.array(places))):
            seen = dict(zip(found["id"].to_pylist(), read.to_pylist(), strict=True))
            pairs = zip(ids.tolist(), wanted.to_pylist(), strict=True)
            wrong = [(row, seen[row], want) for row, want in pairs if seen[row] != want]
            raise AssertionError(f"rows with other fields inside: {wrong}")


Tables = Mapping[str, Columns]
"""The columns of every table by its name."""

NONE = Columns()


def altered(
    history: Sequence[Tables],
    tables: Tables,
    names: Mapping[str, str],
    change: Epoch,
    before: State,
    now: State,
) -> dict[str, Columns]:
    """The columns after the operations of a change, whose `names` of tables are by their ids.

    `history` has the columns of all earlier epochs. `before` and `now` are the rows around the
    change.
    """
    found = {name: columns for name, columns in tables.items() if name in now}
    for op in change.ops:
        if isinstance(op, CreateTable):
            made = Columns(table=op.table)
            found[op.name] = made.altered(op.table_schema, now[op.name])
            if op.name in tables and change.operation != "restore":
                base = history[change.base].get(op.name, NONE)
                tables[op.name].check_replaced(op.name, found[op.name], base)
        elif isinstance(op, AlterSchema):
            name = names[op.table]
            found[name] = tables[name].altered(op.table_schema, before[name])
            _check_names(change, tables[name], found[name])
        elif isinstance(op, Restore):
            name, schema = names[op.table], op.table_schema
            kept = tables[name] if schema is None else NONE.altered(schema, ())
            found[name] = history[op.epoch][name]
            assert kept.by_name == found[name].by_name, f"{name} was restored with other columns"
    return found


def written(tables: Tables, intent: Intent, before: State, now: State, base: Tables) -> Tables:
    """The columns with the values that an intent wrote, evaluated on `base`."""
    found = dict(tables)
    for name, columns in tables.items():
        if columns.by_name:
            steps = [step for step in intent.steps if step.table == name]
            old = before.get(name, {})
            replaced = any(step.kind == "replace_table" for step in steps)
            written_for = columns if replaced else base.get(name, NONE)
            cells = {
                row: columns.cells[row]
                if old.get(row) == it
                else _cells(row, columns, steps, written_for)
                for row, it in now[name].items()
            }
            for step in steps:
                if step.kind in ("add_column", "backfill"):
                    keys = columns.filled_by(step)
                    for row, it in step.where.of(now[name]).items():
                        filled = dict.fromkeys(keys, computed_value(it.v, step.salt))
                        cells[row] = {**cells[row], **filled}
            found[name] = replace(columns, cells=cells)
    return found


def restored(found: Tables, change: Epoch, intent: Intent, base: Tables, then: Tables) -> Tables:
    """The columns with the values of the state `then`, which an intent has restored."""
    made = {op.name for op in change.ops if isinstance(op, CreateTable)}
    for name in made:
        assert found[name].by_name == then[name].by_name, f"{name} was made with other columns"
    back = sum(isinstance(op, Restore) for op in change.ops)
    same = [name for name in base.keys() & then.keys() if base[name] == then[name]]
    all_tables = intent.steps[0].kind == "restore_all"
    assert not all_tables or back + len(made) + len(same) >= len(then), "columns were not restored"
    return {**found, **{name: then[name] for name in made}}


def _cells(row: int, columns: Columns, steps: Sequence[Step], base: Columns) -> Cells:
    """The values of a row that a change wrote; an update leaves them unchanged."""
    for step in steps:
        if any(row == each for each, _ in step.rows):
            return columns.written(step, row, base)
    return columns.cells[row]


def _column(each: SchemaField) -> Column:
    default = None if each.default is None else each.default.value
    return Column(each.id, each.nullable, _number(each.initial), _number(default))


def _extra_fields(schema: TableSchema) -> Iterator[tuple[str, SchemaField]]:
    yield from ((each.name, each) for each in schema.fields if each.name not in KNOWN)
    if any(each.name == INNER for each in schema.fields):
        yield from inner_fields(schema)


def _meanings(fields: Iterable[SchemaField], path: str = "") -> dict[int, tuple[str, str]]:
    """The path and the kind of type of each column and field, by its id."""
    found = dict[int, tuple[str, str]]()
    for each in fields:
        name = f"{path}{each.name}"
        found[each.id] = (name, each.type if isinstance(each.type, str) else each.type.type)
        found.update(_meanings(each.children(), f"{name}."))
    return found


def _is_same(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two columns have one name, and types of which one is the other or widens to it."""
    (name, old), (now, new) = one, other
    return name == now and (old == new or widens(old, new) or widens(new, old))


def _is_inside(name: str) -> bool:
    """Whether an extra column is a field inside `INNER`."""
    return "." in name


def _number(text: str | None) -> int | None:
    """The value that the log states of a column."""
    return None if text is None else int(text.removeprefix("i:"))


def _check_names(change: Epoch, before: Columns, after: Columns) -> None:
    """Check that a change of columns did what its writer says, and nothing else."""
    said = change.parameters.get("changes", "").split("; ")
    keys: dict[str, int | None] = {name: column.key for name, column in before.by_name.items()}
    for each in said:
        match each.split():
            case ["drop", "column", name]:
                keys.pop(name, None)
            case ["add", "column", name]:
                keys[name] = None
            case ["rename", "column", old, "to", name]:
                above, dot, _ = old.rpartition(".")
                keys[f"{above}{dot}{name}"] = keys.pop(old)
    if change.operation == "add_column":
        keys[change.parameters["column"]] = None
    assert after.by_name.keys() == keys.keys(), f"{said} left the columns {list(after.by_name)}"
    for name, key in keys.items():
        assert key in (None, after.by_name[name].key), f"{name} is not what {said} made it"
