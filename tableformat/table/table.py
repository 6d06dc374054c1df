"""A table as users of Arrow see it: what `colonnade.open` and `colonnade.create` return.

`ArrowTable` says what each method promises. What a method does is in a module of its subject, which
takes the open table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa
from typing_extensions import Self, Unpack

from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import TableSchema
from colonnade.manifests.public import public
from colonnade.manifests.reading.begun_head import BegunHead, begin_head
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.tableformat.location import Location, StorageOptions, locate_existing
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.scan.arrow_rows import python_rows
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.order import Order
from colonnade.tableformat.scan.reads import TableReads
from colonnade.tableformat.table.design.description import (
    constraints_of,
    generated_of,
    next_identities_of,
    partitioning_of,
    primary_key_of,
)
from colonnade.tableformat.table.epochs.time_travel import epoch_number, snapshot_at
from colonnade.tableformat.table.open_table import OpenTable
from colonnade.tableformat.table.scans import scan_table
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.input.column_types import GivenSchema, GivenType, as_column
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.manifests.vacuum import result as vacuum_result
    from colonnade.manifests.vacuum import retention
    from colonnade.manifests.vacuum import run as vacuum_run
    from colonnade.tableformat.compaction import optimize as compaction
    from colonnade.tableformat.engines import duckdb_query as queries
    from colonnade.tableformat.keys import key_rows
    from colonnade.tableformat.repair import rowsets as repairs
    from colonnade.tableformat.statements import evaluators, merge_clauses, statement
    from colonnade.tableformat.statements.columns import assigned_value
    from colonnade.tableformat.table import (
        alteration,
        change_plan,
        computed_columns,
        creation,
        rows_by_key,
        writes,
    )
    from colonnade.tableformat.table import changes as feed
    from colonnade.tableformat.table.design import partition_key, properties
    from colonnade.tableformat.table.design import spec as specs
    from colonnade.tableformat.table.epochs import epoch_range, history, restore, restore_counts
    from colonnade.tableformat.table.evolution import fit_rows
    from colonnade.tableformat.table.report import notebook
    from colonnade.tableformat.table.report import report as reports
    from colonnade.tableformat.verify import findings
    from colonnade.tableformat.verify import job as verify_job
    from colonnade.tableformat.verify import run as checks
else:  # what a program that only reads does not need
    vacuum_result = later("colonnade.manifests.vacuum.result")
    retention = later("colonnade.manifests.vacuum.retention")
    vacuum_run = later("colonnade.manifests.vacuum.run")
    compaction = later("colonnade.tableformat.compaction.optimize")
    queries = later("colonnade.tableformat.engines.duckdb_query")
    key_rows = later("colonnade.tableformat.keys.key_rows")
    repairs = later("colonnade.tableformat.repair.rowsets")
    evaluators = later("colonnade.tableformat.statements.evaluators")
    merge_clauses = later("colonnade.tableformat.statements.merge_clauses")
    statement = later("colonnade.tableformat.statements.statement")
    assigned_value = later("colonnade.tableformat.statements.columns.assigned_value")
    alteration = later("colonnade.tableformat.table.alteration")
    change_plan = later("colonnade.tableformat.table.change_plan")
    feed = later("colonnade.tableformat.table.changes")
    computed_columns = later("colonnade.tableformat.table.computed_columns")
    creation = later("colonnade.tableformat.table.creation")
    rows_by_key = later("colonnade.tableformat.table.rows_by_key")
    writes = later("colonnade.tableformat.table.writes")
    partition_key = later("colonnade.tableformat.table.design.partition_key")
    properties = later("colonnade.tableformat.table.design.properties")
    specs = later("colonnade.tableformat.table.design.spec")
    epoch_range = later("colonnade.tableformat.table.epochs.epoch_range")
    history = later("colonnade.tableformat.table.epochs.history")
    restore = later("colonnade.tableformat.table.epochs.restore")
    restore_counts = later("colonnade.tableformat.table.epochs.restore_counts")
    fit_rows = later("colonnade.tableformat.table.evolution.fit_rows")
    notebook = later("colonnade.tableformat.table.report.notebook")
    reports = later("colonnade.tableformat.table.report.report")
    findings = later("colonnade.tableformat.verify.findings")
    verify_job = later("colonnade.tableformat.verify.job")
    checks = later("colonnade.tableformat.verify.run")


@public
class ArrowTable(TableReads):
    """One table of a database, read and written through Arrow, without Spark.

    Create one with `colonnade.open` or `colonnade.create`. Every scan reads one epoch: the newest
    at the time of the call, unless another is given. The object stays bound to the table that was
    opened, also when it is renamed. After the table was dropped, methods raise NotFoundError, even
    if another table has its name. It must not be shared by threads.
    """

    def __init__(
        self,
        location: Location,
        log: Log,
        snapshot: Snapshot | None,
        begun: BegunHead | None = None,
    ) -> None:
        """Open a table as `OpenTable` does."""
        self._open = OpenTable(location, log, snapshot, begun)

    @classmethod
    def open(
        cls,
        path: StorePath,
        storage_options: StorageOptions | None = None,
        *,
        filesystem: Any = None,
    ) -> ArrowTable:
        """Open the table at `path`, reading the head of the log.

        `filesystem` is one of fsspec, such as `s3fs.S3FileSystem(...)`. `path` is then one in it.

        Behind a network, the look that proves the head is made by the first method that needs it. A
        scan makes it beside its reads.

        A head that is damaged or has a newer format raises only in methods that need it.
        `scan(epoch=…)` can still read earlier epochs. Raises NotFoundError without a table, and
        InvalidInputError when `path` is a database of several tables.
        """
        location = locate_existing(StoreAddress.of(path, storage_options, filesystem=filesystem))
        log, opening = Log(location.store), location.opening
        begun = None if opening is None else begin_head(log.reader, opening)
        if begun is not None and location.find(begun.state) is not None:
            proven = begun.is_proven
            return cls(location, log, begun.state) if proven else cls(location, log, None, begun)
        return cls(location, log, log.reader.try_read_head(opening))

    @classmethod
    def create(
        cls,
        path: StorePath,
        schema: specs.TableSpec | GivenSchema | Any,
        *,
        data: Any = None,
        changed_types: creation.ChangedTypes = "warn",
        storage_options: StorageOptions | None = None,
        filesystem: Any = None,
        **keywords: Unpack[specs.SpecKeywords],
    ) -> ArrowTable:
        """Create a table at `path` itself, or in the database directly above it, in one epoch.

        `schema` is a `TableSpec`, or its columns; other fields of a spec are then keywords, such as
        `primary_key`, `sort_key`, `partition_by`, `properties` and `constraints`. `data` are rows
        beside columns. Rows are anything that `append` takes. Types of Arrow that a table does not
        keep are told by one UserWarning, unless `changed_types` is "refuse" or "accept".
        `filesystem` is that of `open`.

        Raises AlreadyExistsError when there is a table; InvalidInputError that names column and
        type for a schema that cannot be stored, or a constraint that cannot be checked; TypeError
        for an unknown keyword; and the errors of `append` for the rows. After any of these there is
        no new table and no new database.
        """
        place = StoreAddress.of(path, storage_options, filesystem=filesystem)
        location, log, base = creation.new_place(place)
        design, rows = creation.designed(
            location.new_table_name, schema, data, changed_types, **keywords
        )
        created = cls(location, log, None)
        created._open.see_committed(creation.commit_created(log, location, base, design, rows))
        return created

    @property
    def path(self) -> str:
        """The location of the table, by the name that was read last."""
        return self._open.location.url

    @property
    def name(self) -> str:
        """The table's name in its database."""
        return self._state.name

    @property
    def schema(self) -> pa.Schema:
        """The table's columns; field metadata has the exact types that Arrow lacks."""
        return arrow_schema(self._state.schema)

    @property
    def epoch(self) -> int:
        """The newest epoch that was read so far."""
        return self._snapshot.epoch

    @property
    def version(self) -> int:
        """The epoch, under the name that other formats use."""
        return self.epoch

    @property
    def properties(self) -> dict[str, str]:
        """The properties that users have set."""
        return properties.stated_properties(self._state)

    @property
    def partitioning(self) -> tuple[str, ...]:
        """The partition fields of new rows, in the form that `create` takes."""
        return partitioning_of(self._state)

    @property
    def primary_key(self) -> tuple[str, ...]:
        """The columns of the primary key, in its order; empty without one."""
        return primary_key_of(self._state)

    @property
    def constraints(self) -> dict[str, str]:
        """The conditions that every row meets, as SQL text by name."""
        return constraints_of(self._state)

    @property
    def next_identities(self) -> dict[str, int | None]:
        """The next value of each identity column, by name; None after its last one.

        A concurrent writer may take it at any time.
        """
        return next_identities_of(self._state)

    @property
    def generated(self) -> dict[str, str]:
        """The expressions of generated columns, as SQL text by column."""
        return generated_of(self._state)

    @property
    def statics(self) -> ArrowTable:
        """The static values of the table: a table with one row for each partition key.

        It is read and written like any other. The table itself decides its columns. Raises
        InvalidInputError for a table that never had a static column.
        """
        base, table = self._open.newest()
        statics = partition_key.statics_of(table, self.path)
        here = replace(
            self._location,
            table=statics.name,
            id=statics.id,
            created_epoch=statics.created_epoch,
        )
        return ArrowTable(here, self._log, base)

    def refresh(self) -> Self:
        """Look for newer epochs, and return this table; costs one GET when there are none."""
        self._refresh()
        return self

    def scan(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        schema_epoch: int | None = None,
        order: Order | None = None,
        seen_at: datetime | str | None = None,
    ) -> Scan:
        """Plan to read `columns` (None: all) of the rows that meet `where`.

        `where` is a predicate in SQL text or built with `colonnade.col`; a datetime in it needs a
        time zone if its column is a timestamp. With `schema_epoch` the
        columns are those of another epoch: a column that did not exist has its initial value in
        each row, or NULL. Reads the log and the entry segments that the predicate does not prune;
        the scan's methods read the data. Raises NotFoundError or InvalidInputError that names the
        column, epoch or part at fault.

        Rows that have expired are left out. An epoch, time or tag shows those that had not expired
        at that epoch. `seen_at` is another time to see the table at, or "now". A time
        is a datetime with a zone, or text, which is in UTC without an offset.

        With `order="key"` the rows have the order of the sort key that the table has at the
        epoch. Where it ascends, NULL is first; where it descends, NULL is last. RowSets are merged
        as streams, and one is opened only when its first key is reached. RowSets that were written
        with another sort key are sorted before the first row is returned: 128 MiB in memory, and
        the rest on local disk. Raises InvalidInputError for a table without a sort key.
        """
        return scan_table(
            self._open,
            columns,
            where,
            epoch=epoch,
            timestamp=timestamp,
            tag=tag,
            schema_epoch=schema_epoch,
            order=order,
            seen_at=seen_at,
        )

    def dataset(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        schema_epoch: int | None = None,
        seen_at: datetime | str | None = None,
    ) -> Any:
        """Plan a scan as a `pyarrow.dataset.Dataset`: `scan(columns, where, …).dataset()`.

        DuckDB, Polars, DataFusion and Ibis read it, and hand it the columns and the filter of a
        query. The arguments and errors are those of `scan`.
        """
        return self.scan(
            columns,
            where,
            epoch=epoch,
            timestamp=timestamp,
            tag=tag,
            schema_epoch=schema_epoch,
            seen_at=seen_at,
        ).dataset()

    def to_duckdb(
        self,
        connection: Any | None = None,
        *,
        name: str | None = None,
        epoch: int | None = None,
    ) -> Any:
        """Make the table a view of a DuckDB connection, and return its `DuckDBPyRelation`.

        The view has the name of the table, or `name`, and shows one epoch. Without a connection, it
        is one of a new connection. Raises ImportError if DuckDB is not installed, and the errors of
        `scan`.
        """
        data = self.dataset(epoch=epoch)
        return queries.view_of(connection, self.name if name is None else name, data)

    def changes(
        self,
        start: epoch_range.Bound | None = None,
        end: epoch_range.Bound | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        net: bool = False,
        follow: bool = False,
        inclusive: epoch_range.Inclusive = "both",
        allow_future: bool = False,
        also: Collection[change_plan.AlsoChange] = (),
        schema_epoch: int | None = None,
    ) -> feed.Changes:
        """Return which rows were inserted, deleted and updated from `start` to `end`.

        Each bound is an epoch, the name of a tag, or a time: a datetime with a zone, or text, which
        is in UTC without an offset. A start of 0 is the epoch that created the table. Without an
        `end`, the range goes on to the newest epoch; with `follow`, it then waits for later ones.
        `inclusive` says which bounds belong to the range. With `allow_future`, it may reach beyond
        the newest epoch, and ends there; a range that waits may begin with the next epoch.

        The result has `columns` of the table (None: all), and the columns that `Changes` lists.
        `where` is a condition on any of these columns. Without a `start`, it has to say with which
        `_commit_version` or `_commit_timestamp` the range begins. Rows have the columns of the
        table at the end of the range, or at `schema_epoch`. A column that an earlier row lacks has
        its initial value, or NULL.

        Without `net`, the result has the changes of each epoch, and in each of them a row is
        inserted, deleted or updated at most once. With `net`, the range counts as one change: a row
        that was inserted and deleted within it is left out, and a row that was updated twice is one
        update. Rows are followed through updates and compactions. In a table with a primary key,
        rows with one key are one row. With `follow`, the epochs that one look finds count as one
        change.

        Rows that have expired are left out, as in a scan: those that have expired by now without an
        `end`, and else by the time of the end. Values that a backfill computed are no change, and
        neither are other static values. `also` names what else counts: with "fills", a row is
        updated when a backfill computes a value of it; with "statics", when its static values
        change; with "expired", expired rows are shown, and deleted when a compaction removes them.

        Reads what the epochs have touched, whatever the size of the table. Raises InvalidInputError
        without a start, for bounds that leave no epoch, and for a column that has the name of one
        of the feed's. Raises NotFoundError for an epoch that does not exist or was removed, for a
        time of the future, and for an unknown column.
        """
        return feed.table_changes(
            self._log,
            self._open.newest,
            change_plan.ChangeQuery(
                start, end, columns, where, net, follow, inclusive, allow_future, also, schema_epoch
            ),
        )

    @overload
    def get(self, key: list[Any], columns: Sequence[str] | None = None) -> pa.Table: ...

    @overload
    def get(
        self, key: key_rows.Key, columns: Sequence[str] | None = None
    ) -> dict[str, Any] | None: ...

    def get(self, key: Any, columns: Sequence[str] | None = None) -> Any:
        """Return the row that has a primary key, or the rows of a list of keys.

        A key is the value of the only key column, a tuple of the values of all key columns, or a
        dict of them by name; a datetime needs a time zone for a timestamp column. One key returns
        the row as a dict of `columns` (None: all), or None. A list returns an Arrow table in the
        order of the list, without the keys that have no row.

        Reads the newest state. Of each RowSet that may have a key, it reads the key columns of the
        blocks that bounds and Bloom filters allow, and then the other columns where a row was
        found. Raises InvalidInputError for a table without a primary key, for a key that its
        columns cannot have, and for one row with a value outside of Python's range. Raises
        NotFoundError for an unknown column.
        """
        if isinstance(key, list):
            return rows_by_key.get_rows(self._open, key, columns)
        rows = rows_by_key.get_rows(self._open, [key], columns)
        return next(chain(*map(python_rows, rows.to_batches())), None)

    def history(self, limit: int | None = None) -> history.History:
        """Return the epochs that changed this table, newest first; reads one file for each epoch.

        The epochs of a table that this one replaced in one epoch follow. Raises InvalidInputError
        unless `limit` is a whole number from 0.
        """
        return history.history_of(self._log, *self._open.newest(), limit)

    def time_of(self, epoch: int) -> datetime | None:
        """Return when an epoch was committed; None if retention removed it.

        Costs as a look for newer epochs, and one GET. Raises NotFoundError for an epoch that does
        not exist, and InvalidInputError unless it is a whole number.
        """
        return history.time_of(self._log, self._refresh(), epoch_number(epoch), self.path)

    def append(
        self,
        data: Any,
        *,
        evolve: bool = False,
        ignore_unknown_columns: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Add rows, and return the new epoch. Concurrent appends never conflict.

        `data` is anything that has rows: a pyarrow table, batch, reader, dataset or scanner; a
        frame of pandas or Polars, also a lazy one; a relation of DuckDB; a scan; a list of dicts; a
        dict of lists; any object with the Arrow C stream or array interface; a list or iterator of
        these. What can be streamed is never held as a whole. Columns are matched by name, and a
        nullable column may be missing. The state that was read last may be old: if retention has
        passed it, the newest state is read first.

        A column that the table does not have is an error. With `evolve` it becomes a column of the
        table, and the type of a column widens if the rows need that. The columns change in an epoch
        of their own, before the rows. With `ignore_unknown_columns` such a column is left out.

        In a table with a primary key, the property `onDuplicate` says what becomes of a row whose
        key is there. `settings.on_duplicate` replaces it. "error", the default, refuses the append.
        "ignore" leaves such rows out, also if a concurrent writer has committed their keys first.
        "merge" makes one row of both, as `upsert` does.

        The table is unchanged after an error, with one exception. A stream can be read only once,
        so columns that `evolve` has added for it stay when a value of a row is refused. A pyarrow
        table or batch is checked before, but not what its rows become where they merge. Raises
        InvalidInputError that names a column that does not fit, and NotFoundError when the table
        was dropped before. Raises ConflictError when a concurrent writer dropped the table, or
        changed its columns or constraints so that the rows may not fit. A vacuum may remove the
        files that were written so far, which a lease prevents. Then the rows of a pyarrow table or
        batch are written again, at most ten times. For other data, and for an expected epoch, this
        raises ConflictError, too.
        """
        unknown = fit_rows.UnknownColumns(evolve, ignore_unknown_columns)
        return writes.append(self._open, data, unknown, settings, commit)

    def overwrite(
        self,
        data: Any,
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Overwrite all rows, or the rows that meet `where`, and return the new epoch.

        A datetime in the condition needs a time zone if its column is a timestamp.

        Raises ConflictError when a concurrent writer changed what is overwritten since the table
        was last read. Raises InvalidInputError for a row that does not meet `where`.
        """
        evaluate = evaluators.overwrite(data, where, settings, may_lease=where is None)
        return writes.overwrite(self._open, evaluate, commit, lease=settings)

    def overwrite_partitions(
        self,
        data: Any,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Overwrite the rows of each partition that has rows in `data`; return the epoch.

        Without rows nothing happens. In a table without partitions, all rows are overwritten.
        Raises ConflictError when a concurrent writer wrote into one of the partitions since the
        table was last read.
        """
        evaluate = evaluators.overwrite_partitions(data, settings)
        return writes.overwrite(self._open, evaluate, commit)

    def delete(
        self,
        where: Where | None = None,
        *,
        count_rows: bool = False,
        commit: CommitSettings | None = None,
    ) -> statement.RowCounts:
        """Delete the rows that meet `where`; None means all rows.

        Reads the columns of the condition, and skips RowSets that the log's statistics decide. A
        range of the table's order is deleted without being read, as `delete_range` does. Then
        `rows_deleted` is None in the result, unless `count_rows` asks to read and count the rows.

        Runs again when a concurrent statement moved one of the rows. Raises InvalidInputError that
        names the column or the part of the condition at fault, and ConflictError after ten tries.
        A datetime in the condition needs a time zone if its column is a timestamp.
        """
        return self._run(evaluators.delete(where, counted=count_rows), commit)

    def delete_range(
        self, where: Where, *, commit: CommitSettings | None = None
    ) -> statement.RowCounts:
        """Delete a range of rows without reading them, however many there are.

        `where` compares the leading columns of the sort key or primary key with values, all but the
        last by `=`, or columns of the partitioning, or both; `IN` and `OR` give several ranges. All
        these columns are NOT NULL. Rows that a concurrent writer adds later stay. Costs one small
        epoch; reads no data. `rows_deleted` is None in the result where bounds do not tell it.

        Raises InvalidInputError for any other condition, and says what a range is, and for a
        datetime without a time zone for a timestamp column. Raises ConflictError after ten tries.
        """
        return self._run(evaluators.delete_range(where, counted=False), commit)

    def update(
        self,
        set: Mapping[str, Any],
        where: Where | None = None,
        *,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> statement.RowCounts:
        """Set columns of the rows that meet `where`; None means all rows.

        `set` gives values by column: text is SQL (a column, a literal, or a condition), `col("a")`
        is a column, and any other Python value means itself. All values are computed from the row
        before the update. A datetime needs a time zone if its column is a timestamp. Runs again
        when a concurrent statement deleted or moved one of the rows. Raises InvalidInputError that
        names the column at fault, and ConflictError after ten tries.
        """
        return self._run(evaluators.update(set, where, settings), commit)

    def upsert(
        self,
        data: Any,
        on: str | Sequence[str] | None = None,
        *,
        ignore_unknown_columns: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> statement.RowCounts:
        """Merge rows into the rows of the table with the same keys; add rows with new keys.

        `data` is anything that `append` takes; it is held in memory. The key is the primary key.
        The rows may leave out columns: a row of the table keeps its values there, and a new row
        gets defaults. Several rows may have one key. Merge modes and sequences, which are
        properties of the table, decide what they become. A column that the table does not have is
        an error. With `ignore_unknown_columns` it is left out.

        With `on`, other columns are the key, and `data` has all columns of the table, each key
        once. When several rows of the table have one key, each of them is replaced, as with MERGE.

        Reads the key columns of RowSets that may have one of the keys. If a concurrent statement
        changed one of the rows, or inserted one of the keys, only these keys are merged again; with
        `on`, the whole statement runs again. Raises NotFoundError or InvalidInputError that names
        the column, or the key that is NULL, or given twice with `on`, or whose sum overflows.
        Raises ConflictError after ten tries.
        """
        check_settings(None, commit)  # before rows are read, which a stream has only once
        evaluate = evaluators.upsert(
            self._columns, data, on, settings, ignore_unknown_columns=ignore_unknown_columns
        )
        return self._run(evaluate, commit)

    def merge(
        self,
        source: Any,
        on: str | Sequence[str] | Mapping[str, str],
        *,
        source_alias: str = "source",
        target_alias: str = "target",
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> merge_clauses.Merge:
        """Begin a MERGE of rows into the table, whose clauses say what becomes of rows.

        `source` is anything that `append` takes; it is read at once, and held in memory. Rows match
        by the columns `on`. They are names, or a dict from columns of the table to those of the
        source. A key with a NULL matches nothing. Add clauses to the result, and call its
        `execute`:

            merge = table.merge(rows, on="id").when_matched_update_all()
            merge.when_not_matched_insert_all().execute()

        Clauses call the columns of both `source.v` and `target.v`, or by the aliases. Reads the key
        columns where bounds allow one of the keys, then the rows that match, about a block at a
        time. Clauses for rows that do not match by source read all rows. Raises InvalidInputError
        that names an argument at fault, or a column of the source that is there twice.
        """
        check_settings(None, commit)  # as in `upsert`
        names = (target_alias, source_alias)
        merged = evaluators.merge(self._columns, source, on, names, settings)
        return merge_clauses.Merge(lambda clauses: self._run(merged(clauses), commit))

    def delete_keys(
        self, data: Any, *, commit: CommitSettings | None = None
    ) -> statement.RowCounts:
        """Delete the rows that have one of the primary keys in `data`.

        `data` is a list, set, range, array or series of keys, each as `get` takes it, such as
        `[7, 9]`. Or it is anything that `append` takes, with exactly the columns of the primary
        key, and the sequence of a table that has one; it is held in memory. A key that no row has
        is ignored.
        With a sequence, a row that is newer than its deletion stays, and an older row that an
        upsert brings later stays out for `tombstone.hours`. Reads the key columns where the keys
        may be. Runs again when a concurrent statement changed one of the rows. Raises
        InvalidInputError for a table without a primary key or with sequences of single columns, or
        that names a column at fault. Raises ConflictError after ten tries.
        """
        check_settings(None, commit)  # as in `upsert`
        return self._run(evaluators.delete_keys(self._columns, data), commit)

    def add_column(
        self,
        name: str,
        type: GivenType,
        value: assigned_value.ArrowFunction | object,
        *,
        columns: Sequence[str] | None = None,
        nullable: bool = True,
        comment: str | None = None,
        after: str | None = None,
        first: bool = False,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> statement.RowCounts:
        """Add a column with a value in each row, in one epoch; earlier epochs do not show it.

        `value` is a function that takes a record batch of `columns` (None: all) and returns as many
        values, or what `update` sets a column to; a datetime needs a time zone for a timestamp. The
        function gets live rows, about a block at a time, perhaps of one RowSet more than once. Rows
        that a concurrent append adds after the epoch have NULL; for a NOT NULL column
        (`nullable=False`), that append is refused instead. Holds a block of each column. Runs again
        if a concurrent writer alters the columns.

        Raises InvalidInputError or NotFoundError that names the column for a column that exists, an
        unknown one, a value of another type, or NULL in a NOT NULL column. Raises InvalidInputError
        when the table has more RowSets than one epoch can list. Raises ConflictError after ten
        tries, and whatever the function raises. After any error the table is unchanged.
        Spec: docs/spec/conflicts.md#filled-columns
        """
        column = as_column(name, type, nullable=nullable, comment=comment)
        new = computed_columns.NewColumn(column, after, first)
        return computed_columns.fill(self._open, name, new, value, columns, None, settings, commit)

    def backfill(
        self,
        name: str,
        value: assigned_value.ArrowFunction | object,
        where: Where | None = None,
        *,
        columns: Sequence[str] | None = None,
        settings: WriteSettings | None = None,
        commit: CommitSettings | None = None,
    ) -> statement.RowCounts:
        """Give an existing column a value in the rows that meet `where` (None: all), in one epoch.

        This is an update that never moves rows: it writes the column again in each RowSet that has
        such a row. The arguments are those of `add_column`, with its rule for the zone of a
        datetime; `columns` may name the column itself. With `where`, the counts include rows that a
        concurrent writer deletes meanwhile. An update of the same rows that runs at the same time
        is run again. Raises InvalidInputError for a column that the table is sorted or partitioned
        by, else as `add_column`.
        """
        return computed_columns.fill(
            self._open, name, None, value, columns, where, settings, commit
        )

    def alter(self, *changes: alteration.Alteration) -> int:
        """Change columns, properties, constraints or the comment in one epoch, and return it.

        No file is touched; `alteration/` has the changes. A new constraint first reads
        RowSets, except where the log's bounds decide it. Raises InvalidInputError or
        NotFoundError that names the column, or a constraint and the values of a row that it does
        not allow. Raises ConflictError when a concurrent writer altered the same thing since the
        table was last read.
        """
        after = alteration.commit_alterations(self._log, self._snapshot, self._state, changes)
        return self._open.see_committed(after).epoch

    def rename_column(self, path: alteration.FieldPath, new_name: str) -> int:
        """Rename a column, or a field inside one, and return the epoch: `alter(RenameColumn(…))`.

        Raises the errors of `alter`.
        """
        return self.alter(alteration.RenameColumn(path, new_name))

    def drop_column(self, *paths: alteration.FieldPath) -> int:
        """Drop columns, or fields inside them, and return the epoch: `alter(DropColumn(…), …)`.

        No file is touched, and earlier epochs still have the columns. Raises the errors of `alter`.
        """
        return self.alter(*(alteration.DropColumn(path) for path in paths))

    def partition_by(self, *fields: str) -> int:
        """Partition new rows by other fields, such as `days(ts)`; no fields end partitioning.

        Existing RowSets keep their partitions until compaction rewrites them. Returns the epoch.
        Raises NotFoundError or InvalidInputError that names the column at fault, and ConflictError.
        """
        return self.alter(alteration.SetPartitioning(fields))

    def rename(self, new_name: str) -> int:
        """Rename the table in its database, and return the epoch. Moves no file.

        Raises AlreadyExistsError when the name is taken, and InvalidInputError for a lone table,
        which is named by its folder, and for the table of static values.
        """
        after = alteration.commit_rename(self._log, *self._open.newest(), new_name)
        return self._open.see_committed(after).epoch

    def drop(self) -> int:
        """Drop the whole table, and return the epoch of the drop; `drop_column` drops a column.

        Earlier epochs stay readable until a vacuum: `database.table(name, epoch=e)` opens them, and
        `database.restore(epoch=e)` brings the table back. Methods of this object raise
        NotFoundError from then on. Raises InvalidInputError for the table of static values.
        """
        after = alteration.commit_drop(self._log, *self._open.newest())
        return self._open.see_committed(after).epoch

    def restore(
        self,
        epoch: int | None = None,
        *,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> int:
        """Restore the table to an epoch, time or tag, and return the new epoch.

        A time is a datetime with a zone, or text, which is in UTC without an offset.
        Rows and columns become what they were; no file is touched. If the table replaced another
        one of its name since then, that one is restored instead, and this object refers to it from
        then on. Properties stay; a restored column gets back the properties that it had.

        Raises NotFoundError for a state that was removed or never existed, and ConflictError when a
        concurrent writer changed the table. Raises InvalidInputError that names the property when
        one needs a column that the table did not have, or does not fit its former key.
        """
        check_settings(None, commit)
        return self._restore(epoch, timestamp, tag, commit).after.epoch

    def _restore(
        self,
        epoch: int | None = None,
        timestamp: datetime | str | None = None,
        tag: str | None = None,
        commit: CommitSettings | None = None,
    ) -> restore_counts.Restored:
        """Restore the table, and return what was done. Raises as `restore`."""
        base, table = self._open.newest()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        after, done = restore.restore_table(self._log, base, table, then, commit)
        self._open.follow_restored(table, after)
        return restore_counts.Restored(after, then.epoch, done)

    def optimize(self, where: Where | None = None) -> compaction.Optimize:
        """Describe a compaction, optionally only of RowSets that may match a condition.

        `table.optimize().executeCompaction()` does what the table's properties ask for.
        """

        begun = compaction.Optimize(self._log, self._open.newest, self._open.see_committed)
        return begun if where is None else begun.where(where)

    def vacuum(
        self,
        retention_hours: float | None = None,
        *,
        retain_epochs: int | None = None,
        dry_run: bool = False,
        force: bool = False,
        trust_clock: bool = False,
    ) -> vacuum_result.VacuumResult:
        """Remove what no kept epoch needs; see `ArrowDatabase.vacuum`.

        A database has one sequence of epochs for all its tables. The arguments replace the
        retention properties of this table only; the retention of every other table is respected.
        """
        retention.refuse_short(retention_hours, force=force, dry_run=dry_run)
        request = vacuum_run.VacuumRequest(
            retention_hours, retain_epochs, self._state.id, dry_run, trust_clock
        )
        result = vacuum_run.vacuum(self._log, request)
        self._refresh()
        return result

    def verify(
        self,
        depth: int = 3,
        *,
        epoch: int | None = None,
        threads: int | None = None,
        elsewhere: verify_job.VerifyRunner | None = None,
    ) -> findings.VerifyReport:
        """Find damage in the table and in the log; see `ArrowDatabase.verify`.

        When the head cannot be read, checks all tables that can be read.
        """
        known = self._log.reader.try_read_head()
        table = None if known is None else self._location.find(known)
        tables = None if table is None else [table.name]
        return checks.verify(
            self._log, depth, tables=tables, epoch=epoch, threads=threads, elsewhere=elsewhere
        )

    def report(self, epochs: int = 200) -> reports.Report:
        """Make an HTML page about the table: sizes, ages, deletions, overlap, epochs, compaction.

        It ends a cell of a notebook, or `save` writes it to a file. Of the last `epochs` of the
        database, it shows those that changed the table. Reads the log alone: the entries of the
        table, and one object for each of these epochs. Raises InvalidInputError for another number
        of epochs, or for an invalid property of compaction. Raises ImportError without jinja2.
        """
        return reports.make_report(self._log, self._refresh(), epochs, self._state)

    def repair(
        self,
        rowsets: Collection[int],
        *,
        rescue: str | os.PathLike[str],
        dry_run: bool = False,
    ) -> repairs.RepairResult:
        """Drop what cannot be read of damaged RowSets in one epoch, and say which rows are lost.

        `rowsets` are ids, as `verify` reports them. Rows stay when every column of their stretch
        (at most 65,536 rows) can be read. What can be read of the other rows is written to the new
        Parquet file `rescue`, which is not created when no row is lost. Deletes no file, because
        earlier epochs still name the old ones. `dry_run` only says what would be lost.

        Raises NotFoundError for an unknown RowSet, InvalidInputError when nothing is damaged,
        AlreadyExistsError when `rescue` exists, ConflictError when a concurrent writer changed one
        of the RowSets, and StoreError.
        """
        base = self._refresh()
        snapshot, result = repairs.take_out(
            self._log, self._state, base, rowsets, rescue, dry_run=dry_run
        )
        self._open.see_committed(snapshot)
        return result

    def __reduce__(self) -> tuple[Callable[..., ArrowTable], tuple[Any, ...]]:
        """Pickle which table it is. The other process reads the newest state at its first need."""
        return _opened_again, (replace(self._location, opening=None),)

    def __repr__(self) -> str:
        seen = self._open.last_seen
        epoch = None if seen is None else seen.epoch
        return f"{type(self).__name__}({self.path!r}, epoch={epoch})"

    def _repr_html_(self) -> str:
        return notebook.table_html(self, self._open)

    # What the project's own modules and tests ask of a table.

    @property
    def _log(self) -> Log:
        return self._open.log

    @property
    def _location(self) -> Location:
        return self._open.location

    @property
    def _snapshot(self) -> Snapshot:
        return self._open.snapshot

    @property
    def _state(self) -> TableState:
        return self._open.state

    @property
    def _columns(self) -> TableSchema:
        return self._state.schema

    def _refresh(self) -> Snapshot:
        return self._open.refresh()

    def _run(
        self, evaluate: evaluators.Evaluate, commit: CommitSettings | None
    ) -> statement.RowCounts:
        return writes.run(self._open, evaluate, commit)


def _opened_again(location: Location) -> ArrowTable:
    return ArrowTable(location, Log(location.store), None)
