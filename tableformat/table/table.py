"""A table as users of Arrow see it: what `colonnade.open` and `colonnade.create` return."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, overload

import pyarrow as pa
from typing_extensions import Unpack

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.later import later
from colonnade.manifests.log.log import Log
from colonnade.manifests.public import public
from colonnade.manifests.reading.begun_head import begin_head
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress, StorePath
from colonnade.tableformat.keys.key_rows import Key
from colonnade.tableformat.keys.static_filters import by_partitions
from colonnade.tableformat.location import Location, StorageOptions, locate_existing
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate
from colonnade.tableformat.scan.arrow_rows import python_rows
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.opened import BegunScan, open_ahead
from colonnade.tableformat.scan.order import Order, check_order
from colonnade.tableformat.scan.other_columns import with_columns_of
from colonnade.tableformat.scan.plan import plan_scan, rowset_filter
from colonnade.tableformat.scan.reads import TableReads
from colonnade.tableformat.table.altering import Altering
from colonnade.tableformat.table.changes import (
    AlsoChange,
    Bound,
    ChangeQuery,
    Changes,
    Inclusive,
    table_changes,
)
from colonnade.tableformat.table.computed_columns import ComputedColumns
from colonnade.tableformat.table.creation import (
    ChangedTypes,
    commit_created,
    designed,
    new_place,
)
from colonnade.tableformat.table.design.partition_key import statics_of
from colonnade.tableformat.table.design.spec import SpecKeywords, TableSpec
from colonnade.tableformat.table.epochs.history import moment
from colonnade.tableformat.table.epochs.restore_counts import Restored
from colonnade.tableformat.table.epochs.time_travel import seen_ms, snapshot_at
from colonnade.tableformat.table.maintenance import Maintenance
from colonnade.tableformat.table.scan_source import TableSource
from colonnade.tableformat.table.writing import Writing
from colonnade.tableformat.types.input.column_types import GivenSchema
from colonnade.tableformat.write.settings import CommitSettings, check_settings

if TYPE_CHECKING:
    from colonnade.tableformat.table import rows_by_key
    from colonnade.tableformat.table.epochs import restore
else:
    rows_by_key = later("colonnade.tableformat.table.rows_by_key")
    restore = later("colonnade.tableformat.table.epochs.restore")


@public
class ArrowTable(Maintenance, ComputedColumns, Altering, Writing, TableReads):
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
        schema: TableSpec | GivenSchema | Any,
        *,
        data: Any = None,
        changed_types: ChangedTypes = "warn",
        storage_options: StorageOptions | None = None,
        filesystem: Any = None,
        **keywords: Unpack[SpecKeywords],
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
        location, log, base = new_place(place)
        design, rows = designed(location.new_table_name, schema, data, changed_types, **keywords)
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

        With `order="key"` the rows have the order of the sort key that the table has at the
        epoch. Where it ascends, NULL is first; where it descends, NULL is last. RowSets are merged
        as streams, and one is opened only when its first key is reached. RowSets that were written
        with another sort key are sorted before the first row is returned: 128 MiB in memory, and
        the rest on local disk. Raises InvalidInputError for a table without a sort key.
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
        seen = seen_ms(self._log.reader, snapshot, pinned=pinned, seen_at=seen_at)
        shown = found
        if schema_epoch is not None:
            other = self._snapshot_at(schema_epoch)
            shown = with_columns_of(found, self._location.require_at(other, self._seen))
        again = partial(
            _scan_again,
            replace(self._location, opening=None),
            epoch=snapshot.epoch,
            schema_epoch=schema_epoch,
            order=order,
            seen=seen,
        )
        source = TableSource(self._log, found, snapshot.epoch, shown, order, seen, again=again)
        if begun is None or begun.table is not found:
            return source.scan(columns, predicate)
        plan = plan_scan(begun.view, snapshot.epoch, columns, begun.predicate)
        return Scan(self._log.store, plan, source, predicate, begun.ahead)

    def changes(
        self,
        start: Bound | None = None,
        end: Bound | None = None,
        *,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        net: bool = False,
        follow: bool = False,
        inclusive: Inclusive = "both",
        allow_future: bool = False,
        also: Collection[AlsoChange] = (),
        schema_epoch: int | None = None,
    ) -> Changes:
        """Return which rows were inserted, deleted and updated from `start` to `end`.

        Each bound is an epoch, the name of a tag, or a time: a datetime with a zone, or text, which
        is in UTC without an offset. A start of 0 is the epoch that created the table. Without an
        `end`, the range goes on to the newest epoch; with `follow`, it then waits for later ones.
        `inclusive` says which bounds belong to the range. With `allow_future`, it may reach beyond
        the newest epoch, and ends there.

        The result has `columns` of the table (None: all), and the columns that `Changes` lists.
        `where` is a condition on any of both. Rows have the columns of the table at the end of the
        range, or at `schema_epoch`. A column that an earlier row lacks has its initial value, or
        NULL.

        Without `net`, the changes of each epoch are told, each row of it at most once. With `net`,
        the range counts as one change: a row that was inserted and deleted within it is not told,
        and a row that was updated twice is told once. Rows are followed through updates and
        compactions. In a table with a primary key, rows with one key are one row.

        Rows that have expired are left out, as in a scan: by now without an `end`, and else by the
        time of the end. Values that a job has filled in change no row. `also` says what else is a
        change: "expired" shows rows until a cleaning removes them, and then tells them as deleted;
        "fills" tells rows that a job gave a value as updated.

        Costs what the epochs have touched, whatever the size of the table. Raises InvalidInputError
        without a start, for bounds that leave no epoch, and for a column that has the name of one
        of the feed's. Raises NotFoundError for an epoch that does not exist or was removed, and for
        an unknown column.
        """
        return table_changes(
            self._log,
            self._newest_table,
            ChangeQuery(
                start,
                end,
                columns,
                where,
                net,
                follow,
                inclusive,
                allow_future,
                also,
                schema_epoch,
            ),
        )

    def _newest_table(self) -> tuple[Snapshot, TableState]:
        head = self._refresh()
        return head, self._location.require(head)

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
        table = self._location.require(snapshot)
        keys = key if isinstance(key, list) else [key]
        rows = rows_by_key.get_rows(self._log, snapshot, table, keys, columns, self._open_rowsets)
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
                chosen = by_partitions(self._log, table, predicate)
                keep, now = rowset_filter(table, chosen), self._log.reader.query_ms(seen)
                view = self._log.rowsets.view(table, keep, now)
                plan = plan_scan(view, seen.epoch, columns, chosen)
                return BegunScan(table, chosen, view, open_ahead(store, plan))
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
    ) -> Restored:
        """Restore the table, and return what was done. Raises as `restore`."""
        base = self._refresh()
        then = snapshot_at(self._log, base, epoch, timestamp, tag)
        table = self._location.require(base)
        after, done = restore.restore_table(self._log, base, table, then, commit)
        with suppress(ColonnadeError):  # the restore is durable: see `_see_committed`
            if table.id not in after.tables:
                self._location = replace(self._location, id=None)
        return Restored(self._see_committed(after), then.epoch, done)


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
