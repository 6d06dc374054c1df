"""MERGE: rows of a source match rows of a table by their keys, and clauses say what they become.

Of a table with the keys 1, 2 and 3, and a source with the keys 2 and 4:

    matched                  2    updated or deleted, by values of both rows
    not matched              4    inserted
    not matched by source    1, 3    updated or deleted
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyroaring import BitMap

from colonnade.manifests.arrays.origins import NEW, origins_of
from colonnade.manifests.commit.change import DeletedRows, KeyGuard, TableRead
from colonnade.manifests.errors import InvalidInputError, RepeatedMatchError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.columns.text_policy import TextPolicy, text_policy
from colonnade.manifests.model.operations import RowKind
from colonnade.manifests.model.schema import SchemaField, TableSchema
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.find import MatchingRows, find_rows
from colonnade.tableformat.keys.key_set import KeySet, key_columns
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.scan.selection import read_numbered, select_rows, selected_numbers
from colonnade.tableformat.statements.key_guard import guard_keys
from colonnade.tableformat.statements.merge_clauses import (
    BoundClause,
    MergeClause,
    Sides,
    chosen,
    inserted,
    updated,
)
from colonnade.tableformat.statements.statement import Statement, row_statement, write_batches
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.types.conform import CONFORMED_ROWS, conform
from colonnade.tableformat.write.identity import draws_of, identified
from colonnade.tableformat.write.settings import WriteSettings

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MergeSource:
    """The rows of a source, in memory, and the columns by which they match.

    `keys` has for each column of the table that of the source.
    """

    rows: pa.Table
    keys: dict[str, str]
    names: tuple[str, str]


def evaluate_merge(
    log: StatementLog,
    table: TableState,
    source: MergeSource,
    clauses: Sequence[MergeClause],
    job_id: str,
    settings: WriteSettings | None = None,
) -> Statement:
    """Return a statement that merges a source into a table.

    Holds the source. Reads the key columns of RowSets and blocks whose bounds allow one of its
    keys, then of the rows that match the columns that clauses need, about a block at a time. With a
    clause for rows that do not match by source, reads all other rows, too. A key with a NULL
    matches nothing. Raises InvalidInputError that names the column or clause at fault, also for a
    table with static columns, RepeatedMatchError, CorruptionError, StoreError.
    """
    for static in static_fields(table.schema):
        raise InvalidInputError(
            f"A merge cannot change table {table.name!r}, which has the static column"
            f" {static.name!r}; use update and upsert."
        )
    work = _Merging.begin(log, table, source, clauses)
    sources = RowSources()
    with step("merge", table.name, "rows", source.rows.num_rows) as advance:
        batches = work.written(sources, job_id)
        added = write_batches(log.plain, table, job_id, batches, settings, advance, sources)
    every = frozenset(each.id for each in table.schema.fields)
    reads_all = bool(work.other)
    keep = None if reads_all else work.keys.may_match
    return row_statement(
        "merge",
        table,
        work.deleted,
        added,
        reads=(TableRead(table.id, keep, every),),
        keys=work.guards(),
        origins=sources.found,
        inserted=work.inserted_count,
        parameters={
            "on": ", ".join(f"{own} = {other}" for own, other in source.keys.items()),
            "clauses": " ".join(map(str, clauses)),
        },
    )


@dataclass(slots=True)
class _Merging:
    """A merge under way, which records the rows that it deletes while it yields those it writes."""

    log: StatementLog
    table: TableState
    rows: pa.RecordBatch
    sides: Sides
    keys: KeySet
    places: Integers
    found: list[MatchingRows]
    matched: list[BoundClause]
    new: list[BoundClause]
    other: list[BoundClause]
    is_matched: NDArray[np.bool_]
    deleted: list[DeletedRows] = field(default_factory=list)
    inserted_count: int = 0
    inserted_rows: list[Integers] = field(default_factory=list)

    @classmethod
    def begin(
        cls,
        log: StatementLog,
        table: TableState,
        source: MergeSource,
        clauses: Sequence[MergeClause],
    ) -> _Merging:
        """Bind the clauses, and find the rows that match. `places` are the source's rows by key."""
        rows, schema = _plain(source.rows, text_policy(table.properties))
        sides = Sides(table.schema, schema, source.names)
        matched = sides.bind(clauses, "matched")
        new = sides.bind(clauses, "not matched")
        other = sides.bind(clauses, "not matched by source")
        key = key_columns(list(source.keys), table.schema)
        columns = _key_columns(rows, key, source.keys)
        has_key = np.ones(rows.num_rows, np.bool_)
        for column in columns.columns:
            has_key &= column.is_valid().to_numpy(zero_copy_only=False)
        places = np.flatnonzero(has_key)
        known = columns.take(pa.array(places))
        keys = KeySet.of(pa.Table.from_batches([known]), key, repeated=True)
        firsts = keys.find(known)
        found = list(find_rows(log.store, log.view(table, keys.may_match), keys))
        there = np.zeros(known.num_rows, np.bool_)
        for each in found:
            there[each.keys] = True
        _refuse_repeated(table, matched, known, firsts, there)
        is_matched = np.zeros(rows.num_rows, np.bool_)
        is_matched[places] = there[firsts]
        return cls(log, table, rows, sides, keys, places, found, matched, new, other, is_matched)

    def written(self, sources: RowSources, job_id: str) -> Iterator[pa.RecordBatch]:
        """Yield updated rows, and then new rows, in the types of the table."""
        if self.matched:
            for each in self.found:
                yield from self._matched_rows(each, sources)
        if self.other:
            yield from self._other_rows(sources)
        batches = self._new_rows(sources)
        schema = self.table.schema
        if identity_columns(schema):
            draws = draws_of(self.log.plain, self.table, job_id)
            yield from identified(batches, self.table.name, schema, draws)
        else:
            exact = arrow_schema(schema)
            for batch in batches:
                yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)

    def guards(self) -> tuple[KeyGuard, ...]:
        """Return a guard of the keys that are inserted."""
        if not self.inserted_count:
            return ()
        rows = np.isin(self.places, np.concatenate(self.inserted_rows))
        names = [each.name for each in self.keys.fields]
        columns = pa.Table.from_arrays(list(self.keys.columns), names=names)

        def taken() -> KeySet:
            return KeySet.of(columns.filter(pa.array(rows)), self.keys.schema, repeated=True)

        return (guard_keys(self.log.store, self.table, self.keys.schema, taken),)

    def _matched_rows(self, found: MatchingRows, sources: RowSources) -> Iterator[pa.RecordBatch]:
        columns = self._columns(self.matched)
        reads = read_numbered(self.log.store, found.view, found.rowset, found.rows, columns)
        taken = _Taken(self.table, found.rowset)
        for numbers, target in reads:
            at = found.keys[np.searchsorted(found.rows, numbers)]
            source = self.rows.take(pa.array(self.places[at]))
            rows = self.sides.rows(target, source)
            yield from self._changed(self.matched, rows, target, numbers, taken, sources)
        self.deleted += taken.rows()

    def _other_rows(self, sources: RowSources) -> Iterator[pa.RecordBatch]:
        known = {each.rowset.id: each.rows for each in self.found}
        view: View = self.log.view(self.table, None)
        columns = self._columns(self.other)
        for selection in select_rows(self.log.store, view, None):
            rowset = selection.rowset
            numbers = selected_numbers(self.log.store, selection)
            numbers = np.setdiff1d(numbers, known.get(rowset.id, np.zeros(0, np.int64)))
            taken = _Taken(self.table, rowset)
            reads = read_numbered(self.log.store, selection.view, rowset, numbers, columns)
            for chosen_rows, target in reads:
                rows = self.sides.rows(target)
                yield from self._changed(self.other, rows, target, chosen_rows, taken, sources)
            self.deleted += taken.rows()

    def _columns(self, clauses: Sequence[BoundClause]) -> TableSchema:
        """Return the columns of the table that clauses need."""
        ids = {each for clause in clauses for each in clause.reads}
        return TableSchema(fields=tuple(f for f in self.table.schema.fields if f.id in ids))

    def _changed(
        self,
        clauses: Sequence[BoundClause],
        rows: pa.RecordBatch,
        target: pa.RecordBatch,
        numbers: Integers,
        taken: _Taken,
        sources: RowSources,
    ) -> Iterator[pa.RecordBatch]:
        for clause, takes in zip(clauses, chosen(clauses, rows), strict=True):
            if not len(takes):
                continue
            taken.add("delete" if clause.action == "delete" else "update", numbers[takes])
            if clause.action == "update":
                at = pa.array(takes)
                sources.add(origins_of(taken.rowset.id, numbers[takes]))
                yield updated(self.table.schema, clause, rows.take(at), target.take(at))

    def _new_rows(self, sources: RowSources) -> Iterator[pa.RecordBatch]:
        wanted = np.flatnonzero(~self.is_matched) if self.new else np.zeros(0, np.int64)
        for first in range(0, len(wanted), CONFORMED_ROWS):
            numbers = wanted[first : first + CONFORMED_ROWS]
            rows = self.sides.rows(source=self.rows.take(pa.array(numbers)))
            for clause, takes in zip(self.new, chosen(self.new, rows), strict=True):
                if len(takes):
                    self.inserted_count += len(takes)
                    self.inserted_rows.append(numbers[takes])
                    sources.add(np.full(len(takes), NEW))
                    yield inserted(self.table.schema, clause, rows.take(pa.array(takes)))


@dataclass(slots=True)
class _Taken:
    """The rows of a RowSet that clauses have taken, by what happens to them."""

    table: TableState
    rowset: LiveRowSet
    numbers: dict[RowKind, BitMap] = field(default_factory=dict)

    def add(self, kind: RowKind, rows: Integers) -> None:
        """Add rows by their numbers."""
        self.numbers.setdefault(kind, BitMap()).update(rows.tolist())

    def rows(self) -> list[DeletedRows]:
        """Return the rows by kind."""
        return [
            DeletedRows(self.table.id, self.rowset, kind, rows)
            for kind, rows in self.numbers.items()
        ]


def _plain(rows: pa.Table, text: TextPolicy) -> tuple[pa.RecordBatch, TableSchema]:
    """Return rows of a source as one batch, in the types of a table, and their columns.

    Raises InvalidInputError for a column that is there twice.
    """
    names = [each.casefold() for each in rows.column_names]
    if len(set(names)) < len(names):
        twice = next(each for at, each in enumerate(names) if each in names[:at])
        raise InvalidInputError(
            f"The source of a merge has column {twice!r} more than once; give each column once."
        )
    schema = schema_from_arrow(rows.schema)
    nullable = TableSchema(
        fields=tuple(SchemaField(name=each.name, type=each.type) for each in schema.fields)
    )
    return conform(rows, nullable, text), nullable


def _key_columns(rows: pa.RecordBatch, key: TableSchema, names: dict[str, str]) -> pa.RecordBatch:
    """Return the columns of a source that match those of a key, in the types of the key."""
    own = {name.casefold(): other for name, other in names.items()}
    known = {each.casefold(): at for at, each in enumerate(rows.schema.names)}
    arrays = []
    for each in key.fields:
        other = own[each.name.casefold()]
        if other.casefold() not in known:
            raise InvalidInputError(
                f"The source of a merge has no column {other!r} to match column {each.name!r} by."
            )
        arrays.append(rows.column(known[other.casefold()]))
    fields = tuple(SchemaField(id=each.id, name=each.name, type=each.type) for each in key.fields)
    batch = pa.RecordBatch.from_arrays(arrays, names=list(key.names))
    return conform(batch, TableSchema(fields=fields))


def _refuse_repeated(
    table: TableState,
    clauses: Sequence[BoundClause],
    known: pa.RecordBatch,
    firsts: Integers,
    there: NDArray[np.bool_],
) -> None:
    """Refuse several rows of a source that match one row, unless they only delete it."""
    deletes = len(clauses) == 1 and clauses[0].action == "delete" and not clauses[0].condition
    repeated = np.flatnonzero((firsts != np.arange(len(firsts))) & there[firsts])
    if clauses and not deletes and len(repeated):
        row = known.slice(int(repeated[0]), 1).to_pylist()[0]
        raise RepeatedMatchError(
            f"Several rows of the source of a merge match one row of table {table.name!r}, by the"
            f" key {row}; give each key once."
        )
