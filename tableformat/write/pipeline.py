"""The steps of rows until they are stored: the same ones in the same order for every statement.

    divide    static values leave their rows          statements/static_split.py
    expire    a row gets the time when it expires     write/expiry.py
    conform   values become exactly those of columns  types/conform.py
    identify  identity columns get values             write/identity.py
    generate  generated columns get values            write/generated.py
    check     constraints hold                        write/constraints.py

One row of an append at 12:00 whose setting `ttl` is 1 hour. The table has `id` (identity), `site`,
`c`, `kind` (static, of the partition key `site`), `ends` (`ttl.expires`) and `day` AS DATE(ends):

    given     kind "pump", site 7, c 21
    divide    site 7, c 21                                        "pump" goes to the static values
    expire    site 7, c 21, ends 13:00
    conform   id NULL, site 7, c 21, ends 13:00, day NULL         now of the types of the table
    identify  id 1, site 7, c 21, ends 13:00, day NULL
    generate  id 1, site 7, c 21, ends 13:00, day 2026-01-30

`write_through` stores what comes out of the last step as RowSets. A statement that matches rows by
key (`statements/keyed/`) matches what `to_match` returns, and stores the result as `whole_rows`.
Spec: docs/spec/operations.md#added-rows
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.later import later
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.columns.generated import generated_fields, sources_of
from colonnade.manifests.model.columns.identity import identity_columns
from colonnade.manifests.model.entries import PartitionField, RowSetEntry, SortField
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.progress import Advance, nothing
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.rowset.writer import RowSetWriter, WriteOptions
from colonnade.tableformat.types.conform import conform_batches
from colonnade.tableformat.write.constraints import bind_constraints, checked_rows
from colonnade.tableformat.write.expiry import Expiry, expiring
from colonnade.tableformat.write.generated import bind_generations, filled_rows
from colonnade.tableformat.write.identity import Draws, identified, open_schema
from colonnade.tableformat.write.job import WriteTarget
from colonnade.tableformat.write.settings import WriteSettings

if TYPE_CHECKING:
    from colonnade.tableformat.partition import writer as partitioned
else:
    partitioned = later("colonnade.tableformat.partition.writer")

STEPS = ("divide", "expire", "conform", "identify", "generate", "check")

Step = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""Takes batches, and yields them after the step; raises InvalidInputError that names the column."""

INDEXED_COLUMNS = 32
"""The number of leading columns with statistics, besides those of keys and partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPipeline:
    """The steps of the rows of one statement on a table; rows do not need a step that is None.

    No rows are stored that were not generated and checked.
    """

    target: WriteTarget
    divide: Step | None = None
    expire: Step | None = None
    conform: Step | None = None
    identify: Step | None = None
    generate: Step
    check: Step

    def run(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield rows as they are stored. Raises the errors of the steps."""
        return self._run(rows, STEPS)

    def to_match(self, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield rows as they are matched by key with those of the table.

        New rows get values of identity columns after that, and merged rows are checked. Raises the
        errors of the steps.
        """
        return self._run(rows, (each for each in STEPS if each not in ("identify", "check")))

    def _run(
        self, rows: Iterable[pa.RecordBatch], names: Iterable[str]
    ) -> Iterator[pa.RecordBatch]:
        for name in names:
            step: Step | None = getattr(self, name)
            rows = rows if step is None else step(rows)
        return iter(rows)


def new_rows(
    target: WriteTarget,
    draws: Callable[[], Draws] | None,
    *,
    divide: Step | None = None,
    expiry: Expiry | None = None,
    condition: Step | None = None,
    complete: bool = False,
) -> RowPipeline:
    """Return the steps of rows that a user gives.

    `draws` tells where values of identity columns come from, if the table has one; None means that
    rows get them elsewhere. `divide` is for a table with static columns. `condition` refuses rows
    that a statement may not add. If rows must be `complete`, only generated columns may be missing.
    Raises InvalidInputError that names a constraint or a generated column which only Spark can
    evaluate.
    """
    schema = target.table_schema
    rows = whole_rows(target)
    identify: Step | None = None
    if draws is not None and identity_columns(schema):
        identify = partial(identified, table=target.name, schema=schema, draws=draws())
    return RowPipeline(
        target=target,
        divide=divide,
        expire=None if expiry is None else partial(expiring, expires=expiry),
        conform=partial(
            conform_batches, schema=open_schema(schema), text=target.invalid_text, complete=complete
        ),
        identify=identify,
        generate=rows.generate,
        check=rows.check if condition is None else lambda each: rows.check(condition(each)),
    )


def partial_rows(
    target: WriteTarget,
    shape: TableSchema,
    columns: Collection[int],
    expiry: Expiry | None = None,
) -> RowPipeline:
    """Return the steps of rows with values in some `columns`, which merge before they are stored.

    `shape` has the columns of the table as such rows have them. A generated column is computed if
    the rows have all columns that it needs. Raises InvalidInputError as `new_rows`.
    """
    schema = target.table_schema
    known = [
        each
        for each in bind_generations(target.name, schema)
        if all(source.id in columns for source in sources_of(each.field, schema))
    ]
    return RowPipeline(
        target=target,
        expire=None if expiry is None else partial(expiring, expires=expiry),
        conform=partial(conform_batches, schema=shape, text=target.invalid_text),
        generate=partial(filled_rows, generations=known),
        check=whole_rows(target).check,
    )


def whole_rows(target: WriteTarget) -> RowPipeline:
    """Return the steps of rows that have exactly the columns of a table, such as merged rows.

    Raises InvalidInputError as `new_rows`.
    """
    schema = target.table_schema
    rules = bind_constraints(target.name, target.constraints, schema)
    generations = bind_generations(target.name, schema)
    return RowPipeline(
        target=target,
        generate=partial(filled_rows, generations=generations),
        check=partial(checked_rows, rules=rules),
    )


def write_through(
    steps: RowPipeline,
    batches: Iterable[pa.RecordBatch],
    store: ObjectStore,
    job_id: str,
    settings: WriteSettings | None = None,
    advance: Advance = nothing,
    sources: RowSources | None = None,
) -> tuple[RowSetEntry, ...]:
    """Write rows as RowSets after their steps: the only way of rows that a statement adds.

    Holds about one block of every column, and with a sort key one run. `advance` is told how many
    rows were written. `sources` knows which rows they replace, and gets the origins of the written
    RowSets. Raises InvalidInputError that names a column that does not fit, or that has another
    value than it is generated to have, or a constraint that does not hold; StoreError. After any
    error, also one of `batches`, the files written so far are removed.
    """
    found: list[RowOrigins] = []
    with open_writer(store, steps.target, job_id, settings or WriteSettings()) as writer:
        for rows in steps.run(batches):
            writer.write(rows, None if sources is None else sources.take(rows.num_rows))
            found += map(RowOrigins.of, writer.take_origins())
            advance(rows.num_rows)
        entries = writer.close()
        if sources is not None:
            found += map(RowOrigins.of, writer.take_origins())
            sources.found = dict(zip((each.object for each in entries), found, strict=True))
    return entries


def open_writer(
    store: ObjectStore, target: WriteTarget, job_id: str, settings: WriteSettings
) -> RowSetWriter | partitioned.PartitionedWriter:
    """Return a writer for one task's rows in any order; each RowSet has rows of one partition."""
    prefix, schema, sort_key = target.prefix, target.table_schema, target.sort_key
    fields = target.partition_fields
    options = target_options(target, settings)
    if fields:
        return partitioned.PartitionedWriter(
            store, prefix, job_id, schema, fields, sort_key, options
        )
    return RowSetWriter(store, prefix, job_id, schema, sort_key, options)


def target_options(target: WriteTarget, settings: WriteSettings) -> WriteOptions:
    """Return the options of the RowSet writer for the rows of a table."""
    return write_options(
        target.table_schema,
        target.sort_key,
        settings,
        target.bloom_columns,
        target.partition_fields,
        target.primary_key,
        inline_bytes=target.inline_rowset_bytes,
    )


def write_options(
    schema: TableSchema,
    sort_key: Sequence[SortField],
    settings: WriteSettings,
    bloom_columns: Sequence[int] = (),
    fields: Sequence[PartitionField] = (),
    primary_key: Sequence[int] = (),
    *,
    inline_bytes: int = LIMITS.inline_rowset_bytes,
) -> WriteOptions:
    """Return the options of the RowSet writer: a user's settings, and the indexed columns."""
    indexed = {column.id for column in schema.fields[:INDEXED_COLUMNS]}
    indexed.update(key.column for key in sort_key)
    indexed.update(field.column for field in fields)
    indexed.update(primary_key)
    indexed.update(column.id for column in identity_columns(schema))
    for column in generated_fields(schema):
        if column.id in indexed:  # a filter on what it is computed from prunes its partitions
            indexed.update(source.id for source in sources_of(column, schema))
    return WriteOptions(
        target_bytes=settings.target_bytes,
        max_records=settings.max_records,
        sync=settings.sync,
        inline_bytes=inline_bytes,
        indexed_columns=frozenset(indexed),
        bloom_columns=frozenset(bloom_columns),
    )
