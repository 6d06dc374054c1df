"""What the values of existing rows must be for a change of a column or field.

Spec: docs/spec/conflicts.md#reads
"""

from __future__ import annotations

import datetime as dt
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise

import pyarrow as pa

from colonnade.manifests.commit.change import TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.columns.widening import LAST_DAY
from colonnade.manifests.model.schema import ArrayType, MapType, SchemaField
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.tableformat.predicate.expressions import (
    Column,
    Compare,
    IsNull,
    Operator,
    Or,
    Predicate,
)
from colonnade.tableformat.predicate.literals import make_literal
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.storage_form import map_entries


class Demand(ABC):
    """What every value of a column must be."""

    @abstractmethod
    def suspects(self, column: str) -> Predicate:
        """Return the condition of rows whose value must be looked at."""

    @abstractmethod
    def is_broken(self, values: pa.Array) -> bool:
        """Return whether a value is not as it must be."""

    @abstractmethod
    def refusal(self, path: str, table: str) -> str:
        """Return the sentence that says so of a column."""


class NotNull(Demand):
    """No value is NULL."""

    def suspects(self, column: str) -> Predicate:
        return IsNull(Column((column,)))

    def is_broken(self, values: pa.Array) -> bool:
        return bool(values.null_count)

    def refusal(self, path: str, table: str) -> str:
        return (
            f"Column {path!r} of table {table!r} cannot be made NOT NULL, because existing rows are"
            " NULL in it; delete or update these rows first."
        )


class TimestampHolds(Demand):
    """Every date is one that a timestamp can hold."""

    def suspects(self, column: str) -> Predicate:
        # Dates that Python has are far from the limits, which it has no dates for.
        name = Column((column,))
        late = Compare(Operator.GREATER_EQUAL, name, make_literal(dt.date.max))
        return Or((late, Compare(Operator.LESS_EQUAL, name, make_literal(dt.date.min))))

    def is_broken(self, values: pa.Array) -> bool:
        days = pc.min_max(values.cast(pa.int32())).as_py()
        return days["min"] is not None and not -LAST_DAY <= days["min"] <= days["max"] <= LAST_DAY

    def refusal(self, path: str, table: str) -> str:
        return (
            f"Column {path!r} of table {table!r} cannot become timestamp_ntz, because an existing"
            " row has a date before the year -290307 or after 294246, which no timestamp can hold;"
            " delete or update these rows first."
        )


Demands = Mapping[int, Sequence[Demand]]
"""What a change demands of columns and fields, by their ids."""


def reads_of(table: TableState, demands: Demands) -> tuple[TableRead, ...]:
    """Return what a change reads that makes these demands.

    A row that a concurrent writer adds conflicts with the change, unless bounds say that the row
    is as demanded.
    """
    return tuple(
        TableRead(
            table.id,
            rowset_filter(table, _suspects(demand, places)),
            frozenset({places[0].id}) if places else None,
            overwrites=True,
        )
        for places, demand in _each(table, demands)
    )


def check_values(log: Log, base: Snapshot, table: TableState, demands: Demands) -> None:
    """Look for a live row whose value in a column or field is not as demanded.

    Raises InvalidInputError, which names the column, when there is one. Costs the blocks whose
    statistics do not rule such values out; for a field inside a column, all blocks of the column.
    """
    for places, demand in _each(table, demands):
        if not places:
            # No row has a column that is as new as this change.
            if table.rowsets.rowset_count:
                raise InvalidInputError(
                    f"A new column of table {table.name!r} cannot be NOT NULL, because existing"
                    " rows are NULL in it; add it with a default, or as nullable."
                )
            continue
        predicate = _suspects(demand, places)
        view = log.rowsets.view(table, rowset_filter(table, predicate), None)
        plan = plan_scan(view, base.epoch, [places[0].name], predicate)
        for batch in read_plan(log.store, plan):
            if demand.is_broken(_values_at(batch.column(0), places)):
                path = ".".join(each.name for each in places)
                raise InvalidInputError(demand.refusal(path, table.name))


Places = tuple[SchemaField, ...]
"""A column, and the fields that lead from it to a field inside it."""


def _each(table: TableState, demands: Demands) -> list[tuple[Places, Demand]]:
    return [
        (_places(table.schema.fields, number), demand)
        for number, some in demands.items()
        for demand in some
    ]


def _places(fields: Sequence[SchemaField], number: int) -> Places:
    """Return the way to the field of an id; nothing if there is none."""
    for field in fields:
        if field.id == number:
            return (field,)
        if below := _places(field.children(), number):
            return (field, *below)
    return ()


def _suspects(demand: Demand, places: Places) -> Predicate | None:
    """Return the condition of rows to look at; None for all rows, as inside a column."""
    return demand.suspects(places[0].name) if len(places) == 1 else None


def _values_at(array: pa.Array, places: Places) -> pa.Array:
    """Return the values at the end of the places that are not inside a NULL."""
    for parent, child in pairwise(places):
        there = array.drop_null()
        match parent.type:
            case ArrayType():
                array = there.flatten()
            case MapType(key=key):
                entries = map_entries(there).flatten()
                array = entries.field(0 if child.id == key.id else 1)
            case _:
                array = there.field(parent.children().index(child))
    return array
