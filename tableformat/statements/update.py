"""UPDATE: write changed rows to new RowSets, or replace columns in place.

When most rows of a RowSet change, writing only the columns that are set takes fewer bytes than
writing these rows whole. When few rows change, it takes more. The stored bytes decide for each
RowSet.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import NamedTuple

import pyarrow as pa

from colonnade.manifests.arrays.origins import RowOrigins, origins_of
from colonnade.manifests.commit.change import DeletedRows, TableRead
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.codec import EPOCH_LIMIT
from colonnade.manifests.model.columns.statics import static_fields
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.operations import ReplaceColumn
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.state.replaced_columns import replaceable
from colonnade.manifests.state.snapshot import LiveRowSet, TableState
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.predicate import Predicate, bind
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.column import column_of
from colonnade.tableformat.rowset.stored.column_segments import ColumnSegments
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.scan.plan import rowset_filter
from colonnade.tableformat.scan.selection import (
    Selection,
    read_selected,
    select_rows,
)
from colonnade.tableformat.statements.columns.assignments import Assignments
from colonnade.tableformat.statements.columns.new_values import assigned
from colonnade.tableformat.statements.statement import (
    Statement,
    StaticValues,
    row_statement,
    write_batches,
)
from colonnade.tableformat.statements.static_split import held_values
from colonnade.tableformat.statements.static_values import agreed_values, static_reads
from colonnade.tableformat.write.constraints import (
    are_decided_by,
    bind_constraints,
    decided_by,
)
from colonnade.tableformat.write.job import WriteTarget, target_of
from colonnade.tableformat.write.pipeline import target_options
from colonnade.tableformat.write.replaced_columns import WritePlace
from colonnade.tableformat.write.settings import WriteSettings

IN_PLACE_ROOM = EPOCH_LIMIT // 2
"""The most bytes of an epoch for replaced columns; in further RowSets, rows move."""

_OPERATION_BYTES = 512
_COLUMN_BYTES = 256
"""The most bytes that a replacement takes in an epoch, and that each of its columns adds."""

INLINE_LIMIT = 64
"""The most replacements of a statement that are stored in the log; more are stored as files."""


def evaluate_update(
    log: StatementLog,
    table: TableState,
    values: Assignments,
    where: Predicate | None,
    job_id: str,
    settings: WriteSettings | None = None,
    text: str | None = None,
) -> Statement:
    """Set the `values` in the rows that meet `where` (None: all).

    Reads the columns of the condition, then the stretches between cuts that hold such rows, one at
    a time. Reads all columns of rows that move. Where columns are replaced, reads only these and
    the columns that their values are computed from. Raises InvalidInputError that names the column
    at fault, or a constraint that does not hold or that only Spark can evaluate. Raises
    CorruptionError, StoreError.
    """
    may_match = rowset_filter(table, where)
    met = by_partitions(log.plain, table, where)
    view = log.view(table, rowset_filter(table, met))
    chosen = [each for each in select_rows(log.store, view, met) if each.count]
    read = values.column_ids
    if where is not None:
        read |= bind(where, table.schema).column_ids
    own, statics = values.of(stored_table(table).schema.fields), static_fields(table.schema)
    added = _changed(log, table, chosen, own, job_id, settings) if own.values else _UNCHANGED
    statement = row_statement(
        "update",
        table,
        added.moved,
        added.rowsets,
        replaced=added.replaced,
        replaced_rows=sum(each.count for each in chosen) - added.moved_count,
        origins=added.origins,
        reads=(TableRead(table.id, may_match, read), *static_reads(table, read)),
        parameters={} if text is None else {"where": text},
    )
    if chosen and any(each.id in values.values for each in statics):
        computed = _static_values(log, table, chosen, values, job_id)
        statement = replace(statement, static_values=computed)
    return statement


class _Changed(NamedTuple):
    """The rows that an update moves, and the columns that it replaces in place."""

    moved: tuple[DeletedRows, ...] = ()
    moved_count: int = 0
    rowsets: tuple[RowSetEntry, ...] = ()
    replaced: tuple[ReplaceColumn, ...] = ()
    origins: Mapping[str, RowOrigins] = MappingProxyType({})


_UNCHANGED = _Changed()


def _changed(
    log: StatementLog,
    table: TableState,
    chosen: Sequence[Selection],
    values: Assignments,
    job_id: str,
    settings: WriteSettings | None,
) -> _Changed:
    own = stored_table(table)
    rules = bind_constraints(own.name, own.constraints, own.schema)
    new = assigned(values, table.schema, decided_by(rules, values.values))
    ids = in_place(log.plain, own, [(c.rowset, c.count) for c in chosen], [*values.values])
    kept = [each for each in chosen if each.rowset.id in ids]
    moved = [each for each in chosen if each.rowset.id not in ids]
    sources = RowSources()
    batches = _updated(log, table, moved, values, sources)
    options = replacement_options(target_of(own, log.limits), len(kept), settings)
    place = WritePlace(log.store, own.id, own.prefix, job_id, log.limits.inline_bytes)
    added: tuple[RowSetEntry, ...] = ()
    replaced = []
    with step("update", own.name, "rows", sum(each.count for each in chosen)) as advance:
        if moved:
            added = write_batches(log.plain, own, job_id, batches, settings, advance, sources)
        for each in kept:
            replaced.append(new.write(place, each, options))
            advance(each.count)
    return _Changed(
        tuple(DeletedRows(own.id, each.rowset, "update", each.rows) for each in moved),
        sum(each.count for each in moved),
        added,
        tuple(replaced),
        sources.found,
    )


def _static_values(
    log: StatementLog,
    table: TableState,
    chosen: Sequence[Selection],
    values: Assignments,
    job_id: str,
) -> StaticValues:
    """Return the static values that an update sets in the partitions of the rows that it finds."""
    key = key_fields(table.partition_key, table.schema)
    for each in key:
        if each.id in values.values:
            raise InvalidInputError(
                f"An update cannot set column {each.name!r} of the partition key of table"
                f" {table.name!r} together with a static column; set them by two updates."
            )
    statics = values.of(static_fields(table.schema))
    ids = {*statics.column_ids, *(each.id for each in key)}
    fields = tuple(each for each in table.schema.fields if each.id in ids)
    names = [each.name for each in key]
    parts = []
    for selection in chosen:
        schema = TableSchema(fields=fields)
        for _, batch in read_selected(log.store, selection, schema):
            computed = statics.compute(batch)
            columns = [*batch.select(names).columns, *computed.columns]
            parts.append(pa.RecordBatch.from_arrays(columns, [*names, *computed.schema.names]))
    rows = held_values(table, parts, statics.targets.fields)
    return agreed_values(table, rows, statics.targets.fields, job_id)


def can_replace(table: TableState, columns: Collection[int]) -> bool:
    """Return whether some columns of a RowSet can be written alone, without their rows.

    They do not decide where a row is, and no constraint reads one of them and another column.
    """
    return replaceable(table).issuperset(columns) and are_decided_by(
        table.constraints, table.schema, columns
    )


def in_place(
    log: Log,
    table: TableState,
    changed: Iterable[tuple[LiveRowSet, int]],
    columns: Sequence[int],
) -> frozenset[int]:
    """Return which RowSets get replaced columns, given how many rows change in each RowSet.

    Reads the footers of possible RowSets. Raises CorruptionError, StoreError.
    """
    if not can_replace(table, columns):
        return frozenset()
    chosen = set[int]()
    room = IN_PLACE_ROOM
    for rowset, count in changed:
        room_needed = _log_bytes(log.limits, rowset, count, columns)
        if room_needed <= room and _is_cheaper(log, table, rowset, count, columns):
            chosen.add(rowset.id)
            room -= room_needed
    return frozenset(chosen)


def _log_bytes(limits: Limits, rowset: LiveRowSet, count: int, columns: Sequence[int]) -> int:
    """Return the most bytes that a replacement takes in its epoch."""
    every = count == rowset.entry.rows
    bitmap = 0 if every else min(limits.inline_bytes, 2 * count + 64) * 4 // 3
    return _OPERATION_BYTES + _COLUMN_BYTES * len(columns) + bitmap


def _is_cheaper(
    log: Log, table: TableState, rowset: LiveRowSet, count: int, columns: Sequence[int]
) -> bool:
    """Return whether whole columns take fewer bytes than `count` rows with all their columns."""
    entry = rowset.entry
    rows_cost = (rowset.byte_count - entry.footer.length) * count // entry.rows
    least = log.limits.in_place_bytes
    if rows_cost <= least:
        return False
    fields = [column_of(table.schema.by_id(column)) for column in columns]
    stored, found = ColumnSegments(log.store, table.prefix, rowset).stored_bytes(fields)
    # A column that was added later has no bytes yet. It is assumed to be of average size.
    missing = (len(columns) - found) * rowset.byte_count // len(table.schema.fields)
    return stored + missing + least < rows_cost


def replacement_options(
    target: WriteTarget, count: int, settings: WriteSettings | None
) -> WriteOptions:
    """Return the options for a statement that replaces columns of `count` RowSets."""
    options = target_options(target, settings or WriteSettings())
    return options if count <= INLINE_LIMIT else replace(options, inline_bytes=0)


def _updated(
    log: StatementLog,
    table: TableState,
    chosen: list[Selection],
    values: Assignments,
    sources: RowSources,
) -> Iterator[pa.RecordBatch]:
    ids = {*values.column_ids, *(each.id for each in values.schema.fields)}
    schema = TableSchema(fields=tuple(each for each in table.schema.fields if each.id in ids))
    for selection in chosen:
        for rows, batch in read_selected(log.store, selection, schema):
            sources.add(origins_of(selection.rowset.id, rows))
            yield values.apply(batch)
