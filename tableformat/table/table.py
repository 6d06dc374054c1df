"""A table as users of Arrow see it: what `colonnade.open` and `colonnade.create` return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa

from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
)
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import IdentityColumn
from colonnade.manifests.public import public
from colonnade.manifests.reading.begun_head import begin_head
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.tableformat.keys.given_keys import Key
from colonnade.tableformat.keys.own_table import own_table
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.location import (
    Location,
    StorageOptions,
    locate_existing,
)
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.arrow_scan import Scan, python_rows
from colonnade.tableformat.scan.given_rows import HELD, batches_of, held_batches
from colonnade.tableformat.scan.opened import BegunScan, open_ahead
from colonnade.tableformat.scan.order import Order, check_order
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.scan.reads import TableReads
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.division import Division
from colonnade.tableformat.statements.finish import finished
from colonnade.tableformat.statements.methods import Evaluate, RowMethods
from colonnade.tableformat.statements.rerun import TRIES, commit_statement, pause_before
from colonnade.tableformat.statements.statement import (
    RowCounts,
    Statement,
    has_batch,
    is_done,
    make_change,
)
from colonnade.tableformat.table.altering import Altering
from colonnade.tableformat.table.computed_columns import ComputedColumns
from colonnade.tableformat.table.creation import (
    ChangedTypes,
    commit_created,
    designed,
    new_place,
)
from colonnade.tableformat.table.generated import NewGenerated
from colonnade.tableformat.table.history import moment
from colonnade.tableformat.table.new_columns import UnknownColumns, fit_rows
from colonnade.tableformat.table.partition_key import statics_of
from colonnade.tableformat.table.scan_source import TableSource
from colonnade.tableformat.table.time_travel import seen_ms, snapshot_at
from colonnade.tableformat.table.upkeep import Upkeep
from colonnade.tableformat.types.arrow_input import in_memory
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.given_types import GivenSchema
from colonnade.tableformat.write.identity import LogDraws
from colonnade.tableformat.write.job import plan_write, take_lease
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings, WriteSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.compaction import auto
    from colonnade.tableformat.statements import append, overwrite, overwrite_partitions
    from colonnade.tableformat.table import get as point_get
    from colonnade.tableformat.table import restore
else:
    auto = later("colonnade.tableformat.compaction.auto")
    append = later("colonnade.tableformat.statements.append")
    overwrite = later("colonnade.tableformat.statements.overwrite")
    overwrite_partitions = later("colonnade.tableformat.statements.overwrite_partitions")
    point_get = later("colonnade.tableformat.table.get")
    restore = later("colonnade.tableformat.table.restore")


@public
class ArrowTable(Upkeep, ComputedColumns, Altering, RowMethods, TableReads):
    """One table of a database, read and written through Arrow, without Spark.

    Create one with `colonnade.open` or `colonnade.create`. Every scan reads one epoch: the newest
    at the time of the call, unless another is given. The object stays bound to the table that was
    opened, also when it is renamed. After the table was dropped, methods raise NotFoundError, even
    if another table has its name. It must not be shared by threads.
    """

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
        log, look = Log(location.store), location.look
        begun = None if look is None else begin_head(log, look)
        if begun is not None and location.find(begun.state) is not None:
            proven = begun.is_proven
            return cls(location, log, begun.state) if proven else cls(location, log, None, begun)
        return cls(location, log, log.try_read_head(look))

    @classmethod
    def create(
        cls,
        path: StorePath,
        schema: GivenSchema | Any,
        *,
        data: Any = None,
        sort_key: Sequence[str] = (),
        partition_by: Sequence[str] = (),
        properties: dict[str, str] | None = None,
        comment: str | None = None,
        constraints: Mapping[str, str] | None = None,
        identity: Mapping[str, IdentityColumn] | None = None,
        generated: Mapping[str, str | NewGenerated] | None = None,
        primary_key: Sequence[str] = (),
        static: Sequence[str] = (),
        partition_key: Sequence[str] = (),
        changed_types: ChangedTypes = "warn",
        storage_options: StorageOptions | None = None,
        filesystem: Any = None,
    ) -> ArrowTable:
        """Create a table at `path` itself, or in the database directly above it, in one epoch.

        `schema` states the columns (docs/python.md#columns-of-a-new-table), or has rows that tell
        them; `data` are rows beside columns. Rows are anything that `append` takes. Types of Arrow
        that a table does not keep are told by one UserWarning, unless `changed_types` is "refuse"
        or "accept". `sort_key` names columns, each perhaps followed by `desc`. `partition_by` has
        columns or transforms, such as `days(ts)`, `bucket(16, id)`, `truncate(4, name)`: a RowSet
        has rows with one value of each. Every row meets the `constraints`: `{"paid": "price > 0"}`.
        The table gives the values of `identity` columns: `{"id": colonnade.IdentityColumn()}`.
        `generated` columns follow from others: `{"day": "CAST(ts AS DATE)"}`; rows leave them out,
        or have the same value. No two rows share a `primary_key`, whose columns become NOT NULL; it
        is the sort key if none is given. The property `onDuplicate` says what a plain write does
        with a key that is there. A `static` column has one value for all rows of a `partition_key`,
        by default the first column of the primary key; `statics` has these values. `filesystem` is
        that of `open`. Raises AlreadyExistsError when there is a table; InvalidInputError that
        names column and type for a schema that cannot be stored, or a constraint that cannot be
        checked; and the errors of `append` for the rows. After any of these there is no new table
        and no new database.
        """
        place = StoreAddress.of(path, storage_options, filesystem=filesystem)
        location, log, base = new_place(place)
        design, rows = designed(
            location.new_table_name,
            schema,
            data,
            changed_types,
            sort_key=sort_key,
            partition_by=partition_by,
            properties=properties,
            comment=comment,
            constraints=constraints,
            identity=identity,
            generated=generated,
            primary_key=primary_key,
            static=static,
            partition_key=partition_key,
        )
        created = cls(location, log, None)
        created._see_committed(commit_created(log, location, base, design, rows))
        return created

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

        With `order="key"` the rows come in the order of the sort key that the table has at the
        epoch. Where it ascends, NULL is first; where it descends, NULL is last. RowSets are merged
        as streams, and one is opened only when its first key is reached. RowSets that were written
        with another sort key are sorted before the first row comes: 128 MiB in memory, and the rest
        on local disk. Raises InvalidInputError for a table without a sort key.
        """
        check_order(order)
        predicate = None if where is None else parse_predicate(where)
        begun: BegunScan | None = None
        if all(each is None for each in (epoch, timestamp, tag, schema_epoch, order, seen_at)):
            snapshot, begun = self._refresh_and_open(columns, predicate)
        else:
            snapshot = self._snapshot_at(epoch, timestamp, tag)
        found = self._location.require_at(snapshot, self._seen)
        pinned = any(each is not None for each in (epoch, timestamp, tag))
        seen = seen_ms(self._log, snapshot, pinned=pinned, seen_at=seen_at)
        table = shown = found.seen_at(seen)
        if schema_epoch is not None:
            other = self._snapshot_at(schema_epoch)
            shown = with_columns_of(table, self._location.require_at(other, self._seen))
        again = partial(
            _scan_again,
            replace(self._location, look=None),
            epoch=snapshot.epoch,
            schema_epoch=schema_epoch,
            order=order,
            seen=seen,
        )
        source = TableSource(self._log, table, snapshot.epoch, shown, order, again=again)
        if begun is None or begun.table is not found:
            return source.scan(columns, predicate)
        plan = plan_scan(shown, snapshot.epoch, begun.rowsets, columns, begun.predicate)
        return Scan(self._log.store, plan, source, predicate, begun.ahead)

    @overload
    def get(self, key: list[Any], columns: Sequence[str] | None = None) -> pa.Table: ...

    @overload
    def get(self, key: Key, columns: Sequence[str] | None = None) -> dict[str, Any] | None: ...

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
        snapshot = self._refresh()
        table = self._location.require(snapshot).seen_at(self._log.query_ms(snapshot))
        keys = key if isinstance(key, list) else [key]
        rows = point_get.get_rows(self._log, snapshot, table, keys, columns, self._open_rowsets)
        if isinstance(key, list):
            return rows
        return next(chain(*map(python_rows, rows.to_batches())), None)

    def _refresh_and_open(
        self, columns: Sequence[str] | None, predicate: Predicate | None
    ) -> tuple[Snapshot, BegunScan | None]:
        """Look for newer epochs. Behind a network, open RowSets of the last state side by side."""
        seen, store = self._last_seen, self._log.store
        table = None if seen is None or store.parallel == 1 else self._location.find(seen)
        # The names are read twice, which not everything allows that users give.
        known = columns is None or isinstance(columns, list | tuple)
        if seen is None or table is None or not known:
            return self._refresh(), None

        def open_last() -> BegunScan | None:
            # The state may be old. Without its columns or objects, nothing is opened ahead.
            with suppress(ColonnadeError):
                now = table.seen_at(self._log.query_ms(seen))
                chosen = by_partitions(self._log, now, predicate)
                rowsets = self._log.read_rowsets(now, rowset_filter(now, chosen))
                plan = plan_scan(now, seen.epoch, rowsets, columns, chosen)
                return BegunScan(table, chosen, rowsets, open_ahead(store, plan))
            return None

        begun, newest = store.both(open_last, self._refresh)
        return newest, begun

    @property
    def statics(self) -> ArrowTable:
        """The static values of the table: a table with one row for each partition key.

        It is read and written like any other. The table itself decides its columns. Raises
        InvalidInputError for a table that never had a static column.
        """
        base = self._refresh()
        statics = statics_of(self._location.require(base), self.path)
        here = replace(
            self._location,
            table=statics.name,
            id=statics.id,
            created_epoch=statics.created_epoch,
        )
        return ArrowTable(here, self._log, base)

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

        The table is unchanged after an error, with one exception. A stream can be read only once,
        so columns that `evolve` has added for it stay when a value of a row is refused. A pyarrow
        table or batch is checked before. Raises InvalidInputError that names a column that does not
        fit, and NotFoundError when the table was dropped before. Raises ConflictError when a
        concurrent writer dropped the table, or changed its columns or constraints so that the rows
        may not fit. A vacuum may remove the files that were written so far, which a lease prevents.
        Then the rows of a pyarrow table or batch are written again, at most ten times. For other
        data, and for an expected epoch, this raises ConflictError, too.
        """
        unknown = UnknownColumns(evolve, ignore_unknown_columns)
        data = in_memory(data, self.schema)
        may_repeat = isinstance(data, HELD) and (commit is None or commit.expect_epoch is None)
        tries = TRIES if may_repeat else 1
        for attempt in range(tries):
            if attempt:
                self._log.pause(pause_before(attempt))
            try:
                base, after = self._write("append", data, settings, commit, unknown)
                break
            except ConflictError:
                planned = self._location.find(self._snapshot)
                found = self._location.find(self._refresh())
                if attempt == tries - 1 or not _takes_same_rows(planned, found):
                    raise
        return base.epoch if after is base else self._written(after)

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
        if where is None:
            base, after = self._write("overwrite", data, settings, commit)
            return base.epoch if after is base else self._written(after)
        check_settings(settings, commit)
        predicate = parse_predicate(where)

        def evaluate(log: Log, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return overwrite.evaluate_overwrite_where(
                log, table, rows, predicate, job_id, settings, str(where)
            )

        return self._overwrite(evaluate, commit)

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
        check_settings(settings, commit)

        def evaluate(log: Log, table: TableState, job_id: str) -> Statement:
            rows = batches_of(data, arrow_schema(table.schema))
            return overwrite_partitions.evaluate_overwrite_partitions(
                log, table, rows, job_id, settings
            )

        return self._overwrite(evaluate, commit)

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
        then on. Properties stay; a column that comes back brings those for it that it had.

        Raises NotFoundError for a state that was removed or never existed, and ConflictError when a
        concurrent writer changed the table. Raises InvalidInputError that names the property when
        one needs a column that the table did not have, or does not fit its former key.
        """
        check_settings(None, commit)
        base = self._refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        table = self._location.require(base)
        after = restore.restore_table(self._log, base, table, then, commit)
        with suppress(ColonnadeError):  # the restore is durable: see `_see_committed`
            if table.id not in after.tables:
                self._location = replace(self._location, id=None)
        return self._see_committed(after).epoch

    def _write(
        self,
        mode: Literal["append", "overwrite"],
        data: Any,
        settings: WriteSettings | None,
        commit: CommitSettings | None,
        unknown: UnknownColumns | None = None,
    ) -> tuple[Snapshot, Snapshot]:
        """Write rows and commit them. Returns the base and the state after it.

        Both are the state after it where nothing is left to do.
        """
        check_settings(settings, commit, may_lease=True)
        base = self._snapshot
        table = self._location.require(base)
        batches = batches_of(data, arrow_schema(table.schema))
        follows = self._log.can_follow(base) and not table.constraints
        if mode == "append" and not follows:
            # Rows can follow any epoch, but the new base must be read before the first row is
            # written: a vacuum in between may remove their files. Nor should rows be checked
            # against a constraint that was dropped since.
            base = self._refresh()
        elif mode == "append" and table.primary_key:
            # A key that is deleted by now refuses no row.
            newest = self._log.refresh(base)
            if _takes_same_rows(table, self._location.find(newest)):
                base = self._see_committed(newest)
        if has_batch(commit, self._location.require(base)):
            return base, base
        if unknown is not None:
            held = held_batches(data) if unknown.evolve else ()
            base, batches, commit = self._fit(base, batches, unknown, commit, held)
            if has_batch(commit, self._location.require(base)):
                return base, base
        if mode == "append" and self._merges(base, settings):
            merged = self._merged(batches, settings, commit)
            return merged, merged
        limits, division = self._log.limits, Division(self._location.require(base), new_job_id())
        job = plan_write(
            self._location,
            base,
            mode,
            settings=settings,
            commit=commit,
            limits=limits,
            agreed=self._log.statement_time,
        )
        take_lease(job, self._log, base)
        draws = LogDraws(self._log, base, division.own, job.job_id)
        own = division.batches(batches)
        count = data.num_rows if isinstance(data, HELD) else None
        with step(mode, job.target.name, "rows", count) as advance:
            entries = write_rows(job, own, self._location.store, draws=draws, advance=advance)
        brought = division.brought
        return base, commit_written(job, entries, self._log, base, fresh=True, statics=brought)

    def _merges(self, base: Snapshot, settings: WriteSettings | None) -> bool:
        chosen = None if settings is None else settings.on_duplicate
        return merges(own_table(self._location.require(base)), chosen)

    def _merged(
        self,
        batches: Iterator[pa.RecordBatch],
        settings: WriteSettings | None,
        commit: CommitSettings | None,
    ) -> Snapshot:
        check_settings(settings, commit)
        held = list(batches)

        def evaluate(log: Log, table: TableState, job_id: str) -> Statement:
            return append.evaluate_append(log, table, held, job_id, settings)

        self._run(evaluate, commit)
        return self._snapshot

    def _fit(
        self,
        base: Snapshot,
        batches: Iterator[pa.RecordBatch],
        unknown: UnknownColumns,
        commit: CommitSettings | None,
        held: Sequence[pa.RecordBatch],
    ) -> tuple[Snapshot, Iterator[pa.RecordBatch], CommitSettings | None]:
        """Fit rows and columns to each other; return also the settings of the rows' own commit."""
        self._location.store.require_writable()
        after, rows = fit_rows(self._log, self._location, base, batches, unknown, commit, held)
        if after is not base:
            self._see_committed(after)
            if commit is not None and commit.expect_epoch is not None:
                commit = commit.model_copy(update={"expect_epoch": after.epoch})
        return after, rows, commit

    def _overwrite(self, evaluate: Evaluate, commit: CommitSettings | None) -> int:
        """Commit a statement on the last state read, once: its rows may have been read from it."""
        base, job_id = self._snapshot, new_job_id()
        table = self._log.decided(base, self._state)
        if has_batch(commit, table):
            return base.epoch
        with self._log.removals_are_conflicts("overwrite", base):
            statement = finished(evaluate(self._log, table, job_id), self._log, table)
        if is_done(statement, commit, self._log, base):
            return base.epoch
        return self._written(self._log.commit(make_change(statement, table, job_id, commit), base))

    def _written(self, after: Snapshot) -> int:
        """Use the state after a write, compact if the table asks for it, and return the epoch."""
        epoch = self._see_committed(after).epoch
        if self._location.id is not None:
            self._see_committed(auto.compact_after(self._log, after, self._location.id))
        return epoch

    def _run(self, evaluate: Evaluate, commit: CommitSettings | None) -> RowCounts:
        return self._run_planned(lambda log, _, table, job_id: evaluate(log, table, job_id), commit)

    def _run_planned(
        self,
        evaluate: Callable[[Log, Snapshot, TableState, str], Statement],
        commit: CommitSettings | None = None,
    ) -> RowCounts:
        """Evaluate a statement on the newest state and commit it, again after a conflict.

        `evaluate` gets the log, a state, the table in it, and the prefix of the ids of new objects.
        Raises ConflictError after ten tries, and the errors of `evaluate` and `Log.commit`.
        """
        self._location.store.require_writable()

        def planned(base: Snapshot) -> Change | None:
            job_id = new_job_id()
            table = self._log.decided(base, self._location.require(base))
            if has_batch(commit, table):
                return None
            statement = evaluate(self._log, base, table, job_id)
            statement = finished(statement, self._log, table)
            if is_done(statement, commit, self._log, base):
                return None
            return make_change(statement, table, job_id, commit)

        snapshot, epoch = commit_statement(self._log, self._refresh(), planned)
        metrics = (epoch and epoch.metrics) or {}
        return RowCounts._of_metrics(self._written(snapshot), metrics)


def _scan_again(
    location: Location,
    columns: Sequence[str],
    where: Predicate | None,
    limit: int | None,
    *,
    seen: int,
    **state: Any,
) -> Scan:
    """Plan a scan in another process, of a state as it was seen at a time in ms since 1970 UTC.

    Raises the errors of `ArrowTable.scan`.
    """
    table = ArrowTable(location, Log(location.store), None)
    scan = table.scan(columns, where, seen_at=moment(seen), **state)
    return scan if limit is None else scan.limit(limit)


def _takes_same_rows(planned: TableState | None, found: TableState | None) -> bool:
    """Return whether rows that were planned for a table may be written again to a later state.

    Not if its columns or rules changed: a column may have the name of another one by now.
    """
    if planned is None or found is None:
        return False
    return all(
        getattr(planned, part) == getattr(found, part)
        for part in ("id", "created_epoch", "schema", "constraints", "primary_key")
    )
