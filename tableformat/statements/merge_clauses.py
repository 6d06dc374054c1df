"""The clauses of a MERGE: what happens to rows of a table and of its source that match or do not.

Conditions and values are SQL that names the columns of both sides: `source.v + target.v`. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import SchemaField, StructType, TableSchema, assign_ids
from colonnade.manifests.public import public
from colonnade.tableformat.predicate import (
    ColumnBuilder,
    Predicate,
    Where,
    bind,
    parse_predicate,
    text_of,
)
from colonnade.tableformat.predicate.bound import BoundPredicate
from colonnade.tableformat.predicate.evaluate import evaluate_shown
from colonnade.tableformat.predicate.expressions import Call, Column, columns_of
from colonnade.tableformat.statements.columns.assignments import (
    Value,
    assigned_field,
    assigned_values,
    evaluated,
    stated_value,
)
from colonnade.tableformat.statements.statement import RowCounts
from colonnade.tableformat.types.arrow_types import arrow_type
from colonnade.tableformat.types.conform import conform
from colonnade.tableformat.types.default_values import default_values
from colonnade.tableformat.write.identity import open_schema

_EXPRESSIONS = (Column, Call, Predicate)

Group = Literal["matched", "not matched", "not matched by source"]
Action = Literal["update", "delete", "insert"]


@dataclass(frozen=True, slots=True)
class MergeClause:
    """A clause as a user states it. `sets` is None for all columns that the source has."""

    group: Group
    action: Action
    condition: Where | None = None
    sets: Mapping[str, Any] | None = None

    def __str__(self) -> str:
        condition = "" if self.condition is None else f" AND {text_of(self.condition)}"
        return f"WHEN {self.group.upper()}{condition} THEN {self.action.upper()}"


@dataclass(frozen=True, slots=True)
class BoundClause:
    """A clause whose columns are resolved: its condition, and the values of columns by id.

    `reads` are the ids of the table's columns that it names, or that keep their values.
    """

    action: Action
    condition: BoundPredicate | None
    values: Mapping[int, Value]
    reads: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Sides:
    """The columns of the table and of the source, under the names that clauses have for both."""

    target: TableSchema
    source: TableSchema
    names: tuple[str, str]

    def schema(self, group: Group) -> TableSchema:
        """Return the sides that the clauses of a group have, each as one struct."""
        sides = zip(self.names, (self.target, self.source), strict=True)
        fields = tuple(
            SchemaField(name=name, type=StructType(fields=tuple(map(_bare, side.fields))))
            for name, side in sides
        )
        kept = {"matched": fields, "not matched": fields[1:]}.get(group, fields[:1])
        return assign_ids(TableSchema(fields=tuple(kept)), 1)[0]

    def rows(
        self, target: pa.RecordBatch | None = None, source: pa.RecordBatch | None = None
    ) -> pa.RecordBatch:
        """Return rows of the sides that there are, as the columns of `schema`."""
        sides = {
            name: side.to_struct_array()
            for name, side in zip(self.names, (target, source), strict=True)
            if side is not None
        }
        return pa.RecordBatch.from_arrays(list(sides.values()), names=list(sides))

    def bind(self, clauses: Sequence[MergeClause], group: Group) -> list[BoundClause]:
        """Resolve the clauses of a group. Raises InvalidInputError that names what is wrong."""
        schema = self.schema(group)
        own = [each for each in clauses if each.group == group]
        for each in own[:-1]:
            if each.condition is None:
                raise InvalidInputError(
                    f"{each} takes all rows, so that no later clause of its group has any; give it"
                    " a condition, or state it last."
                )
        return [self._bind(each, schema) for each in own]

    def _bind(self, clause: MergeClause, schema: TableSchema) -> BoundClause:
        condition = None if clause.condition is None else parse_predicate(clause.condition)
        self._check_sides(condition, clause, schema)
        bound = None if condition is None else bind(condition, schema)
        reads = self._reads(condition)
        if clause.action == "delete":
            return BoundClause("delete", bound, {}, reads)
        given = self._all() if clause.sets is None else clause.sets
        if not given:
            raise InvalidInputError(f"{clause} sets no column; give a dict of values by column.")
        stated = {
            name: stated_value(value, assigned_field(name, self.target))
            for name, value in given.items()
        }
        for value in stated.values():
            self._check_sides(value, clause, schema)
        values = assigned_values(stated, self.target, schema)
        kept = (f.id for f in self.target.fields if f.id not in values and f.generated is None)
        reads = reads.union(kept, *map(self._reads, stated.values()))
        return BoundClause(clause.action, bound, values, reads)

    def _reads(self, value: object) -> frozenset[int]:
        """Return the ids of the table's columns that an expression names; a function reads all."""
        if callable(value):
            return frozenset(each.id for each in self.target.fields)
        if not isinstance(value, _EXPRESSIONS):
            return frozenset()
        own = [c for c in columns_of(value) if c.path[0].casefold() == self.names[0].casefold()]
        if any(len(each.path) == 1 for each in own):
            return frozenset(each.id for each in self.target.fields)
        return frozenset(self.target.field(each.path[1]).id for each in own)

    def _check_sides(self, value: object, clause: MergeClause, schema: TableSchema) -> None:
        """Refuse an expression with a column of neither side, or of one that its group lacks."""
        if not isinstance(value, _EXPRESSIONS) or _is_default(value):
            return
        sides = {each.casefold() for each in schema.names}
        for column in columns_of(value):
            first = column.path[0].casefold()
            if first in sides:
                continue
            if first in {each.casefold() for each in self.names}:
                raise InvalidInputError(
                    f"Column {str(column)!r} has no value in {clause}; use columns of"
                    f" {schema.names[0]!r} alone."
                )
            names = " or ".join(str(Column((each, *column.path))) for each in schema.names)
            raise InvalidInputError(
                f"Column {str(column)!r} in {clause} may be one of either side; write {names}."
            )

    def _all(self) -> dict[str, Any]:
        """Return what sets each column to that of the source with its name."""
        side = ColumnBuilder(Column((self.names[1],)))
        known = {each.casefold() for each in self.target.names}
        for name in self.source.names:
            if name.casefold() not in known:
                raise InvalidInputError(
                    f"The source has a column {name!r}, which the table does not have; leave it"
                    " out, or state the values of the columns to set."
                )
        return {name: side[name] for name in self.source.names}


def check_aliases(names: tuple[str, str]) -> None:
    """Refuse names of a table and its source that clauses could not tell apart."""
    texts = [each for each in names if isinstance(each, str) and each]
    if len({each.casefold() for each in texts}) < len(names):
        raise InvalidInputError(
            "target_alias and source_alias must be two names that differ by more than case, not"
            f" {names[0]!r} and {names[1]!r}."
        )


def _is_default(value: object) -> bool:
    return isinstance(value, Column) and [each.upper() for each in value.path] == ["DEFAULT"]


def _bare(column: SchemaField) -> SchemaField:
    """Return a column as a field that may be NULL, without what only a whole column has."""
    return SchemaField(name=column.name, type=column.type)


def chosen(clauses: Sequence[BoundClause], rows: pa.RecordBatch) -> list[NDArray[np.int64]]:
    """Return for each clause the rows that it is the first to take, ascending."""
    left = np.ones(rows.num_rows, np.bool_)
    found = []
    for clause in clauses:
        takes = left
        if clause.condition is not None:
            met = evaluate_shown(clause.condition, rows, left).fill_null(False)
            takes = left & met.to_numpy(zero_copy_only=False)
        found.append(np.flatnonzero(takes))
        left = left & ~takes
    return found


def updated(
    schema: TableSchema, clause: BoundClause, sides: pa.RecordBatch, target: pa.RecordBatch
) -> pa.RecordBatch:
    """Return rows of the table after an update; generated columns are NULL until they are filled.

    Raises InvalidInputError that names the column for a value that it cannot hold.
    """
    columns = [
        evaluated(clause.values[each.id], sides)
        if each.id in clause.values
        else pa.nulls(target.num_rows, arrow_type(each))
        if each.generated is not None
        else target.column(target.schema.get_field_index(each.name))
        for each in schema.fields
    ]
    return conform(pa.RecordBatch.from_arrays(columns, schema.names), schema)


def inserted(schema: TableSchema, clause: BoundClause, sides: pa.RecordBatch) -> pa.RecordBatch:
    """Return new rows, in which columns that are not set have their defaults, or NULL.

    Identity columns and generated columns are NULL. Raises the errors of `updated`.
    """
    count = sides.num_rows
    columns = [
        evaluated(clause.values[each.id], sides)
        if each.id in clause.values
        else pa.nulls(count, arrow_type(each))
        if each.generated is not None or each.identity is not None
        else default_values(each, count)
        for each in schema.fields
    ]
    return conform(pa.RecordBatch.from_arrays(columns, schema.names), open_schema(schema))


@public
@dataclass(frozen=True, slots=True)
class Merge:
    """A MERGE that is being stated, clause by clause; `execute` runs it.

    Each method returns a new Merge with one more clause. A row is taken by the first clause of its
    group whose condition is TRUE. Conditions and values are SQL over `target` and `source`, or the
    names that `ArrowTable.merge` was given for them. A value may also be any other that `update`
    takes.
    """

    _run: Callable[[tuple[MergeClause, ...]], RowCounts] = field(repr=False)
    _clauses: tuple[MergeClause, ...] = field(default=())

    def when_matched_update(self, set: Mapping[str, Any], condition: Where | None = None) -> Merge:
        """Set columns of rows of the table that match a row of the source."""
        return self._with(MergeClause("matched", "update", condition, _stated(set)))

    def when_matched_update_all(self, condition: Where | None = None) -> Merge:
        """Set all columns that the source has to its values in the row that matches."""
        return self._with(MergeClause("matched", "update", condition))

    def when_matched_delete(self, condition: Where | None = None) -> Merge:
        """Delete rows of the table that match a row of the source."""
        return self._with(MergeClause("matched", "delete", condition))

    def when_not_matched_insert(
        self, values: Mapping[str, Any], condition: Where | None = None
    ) -> Merge:
        """Insert a row for each row of the source that matches none; other columns get defaults."""
        return self._with(MergeClause("not matched", "insert", condition, _stated(values)))

    def when_not_matched_insert_all(self, condition: Where | None = None) -> Merge:
        """Insert each row of the source that matches none, with all its columns."""
        return self._with(MergeClause("not matched", "insert", condition))

    def when_not_matched_by_source_update(
        self, set: Mapping[str, Any], condition: Where | None = None
    ) -> Merge:
        """Set columns of rows of the table that match no row of the source."""
        clause = MergeClause("not matched by source", "update", condition, _stated(set))
        return self._with(clause)

    def when_not_matched_by_source_delete(self, condition: Where | None = None) -> Merge:
        """Delete rows of the table that match no row of the source."""
        return self._with(MergeClause("not matched by source", "delete", condition))

    def execute(self) -> RowCounts:
        """Run the MERGE, and return what it did. It may be called again, with the same rows.

        Runs again after a conflict with a concurrent statement. Raises InvalidInputError without a
        clause, and one that names the column or the clause at fault. Raises RepeatedMatchError if
        several rows of the source match one row of the table, unless all matched rows are deleted.
        Raises ConflictError after ten tries.
        """
        if not self._clauses:
            raise InvalidInputError(
                "A merge without a clause does nothing; state one, such as"
                " when_matched_update_all()."
            )
        return self._run(self._clauses)

    def _with(self, clause: MergeClause) -> Merge:
        return replace(self, _clauses=(*self._clauses, clause))


def _stated(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values of a clause. Raises InvalidInputError for anything but a dict."""
    if not isinstance(values, Mapping):
        raise InvalidInputError(f"A clause takes a dict of values by column, not {values!r}.")
    return dict(values)
