"""What every merge by the primary key does: write merged rows, and withdraw them again.

A merge meets one state of its table after another, until it has its slot. What was written for a
key before stays as long as the row of the table with this key stays.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import pyarrow as pa
from pyroaring import BitMap, FrozenBitMap

from colonnade.manifests.arrays.origins import RowOrigins
from colonnade.manifests.commit.change import AddedRows, DeletedRows, ResolvedRows
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.log.statement_log import StatementLog
from colonnade.manifests.model.entries import RowSetEntry
from colonnade.manifests.model.identity import identity_columns
from colonnade.manifests.state.snapshot import TableState, as_written
from colonnade.manifests.state.view import View
from colonnade.tableformat.keys.find import find_rows
from colonnade.tableformat.keys.key_set import KeySet
from colonnade.tableformat.keys.policy import policy_of
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.progress import step
from colonnade.tableformat.rowset.task_writer import RowSources
from colonnade.tableformat.statements.keyed.meeting import Meeting
from colonnade.tableformat.statements.keyed.new_keys import key_schema
from colonnade.tableformat.statements.statement import RowCounts, write_batches
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.write.identity import draws_of, identified
from colonnade.tableformat.write.run import dated, stamped
from colonnade.tableformat.write.settings import WriteSettings


class Merging:
    """The RowSets that a merge has written for a table, and which of their rows do not count.

    `first` are RowSets that tasks wrote before.
    """

    def __init__(
        self,
        log: StatementLog,
        table: TableState,
        job_id: str,
        settings: WriteSettings | None,
        first: Sequence[RowSetEntry] = (),
    ) -> None:
        self.log, self.table = log, table
        self.key, self.policy = key_schema(table), policy_of(table)
        self._job_id, self._settings = job_id, settings
        self._first = len(first)
        self._written = list(first)
        self._origins: dict[str, RowOrigins] = {}
        self._lost: defaultdict[str, BitMap] = defaultdict(BitMap)

    def check_unaltered(self, table: TableState) -> None:
        """Raise ConflictError if a later state of the table merges rows in another way."""
        mine, table = self.table, stored_table(table)
        alike = (
            table.primary_key == mine.primary_key
            and table.schema == mine.schema
            and table.constraints == mine.constraints
            and policy_of(table) == self.policy
        )
        if not alike:
            raise ConflictError(
                f"The columns, constraints or merge modes of table {mine.name!r} have changed while"
                " rows were merged; repeat the write."
            )

    def write(self, meeting: Meeting) -> None:
        """Write merged rows. Raises the errors of `write_batches`."""
        rows, sources = self._identified(meeting), RowSources()
        sources.add(meeting.origins)
        with step("upsert", self.table.name, "rows", meeting.key_count) as advance:
            self._written += write_batches(
                self.log.plain, self.table, self._job_id, rows, self._settings, advance, sources
            )
        self._origins.update(sources.found)

    def withdraw(self, keys: KeySet) -> None:
        """Leave out the rows that `write` has written for some keys."""
        view = View.stored(self.table, map(as_written, self._written[self._first :]))
        for found in find_rows(self.log.store, view, keys):
            self.lose(found.rowset.entry, found.rows)

    def withdraw_all(self) -> None:
        """Leave out everything that `write` has written."""
        del self._written[self._first :]

    def begin_again(self) -> None:
        """Leave out everything that `write` has written, and none of the rows of the tasks."""
        self.withdraw_all()
        self._lost.clear()

    def lose(self, entry: RowSetEntry, rows: Iterable[int]) -> None:
        """Leave out rows of a written RowSet."""
        self._lost[entry.object] |= BitMap(rows)

    def lost(self, entry: RowSetEntry) -> FrozenBitMap:
        """Return the rows of a written RowSet that are left out."""
        return FrozenBitMap(self._lost.get(entry.object, ()))

    def result(
        self,
        replaced: Sequence[DeletedRows],
        inserted: int,
        expired: int = 0,
        origins: Mapping[str, RowOrigins] = MappingProxyType({}),
    ) -> ResolvedRows:
        """Return what the statement adds and replaces; `inserted` of its rows have new keys.

        Of the replaced rows, `expired` had expired, so that the rows with their keys are new.
        `origins` says which rows the rows of the tasks replace, by the objects of their RowSets.
        """
        known = {**self._origins, **origins}
        added = (
            AddedRows(
                dated(stamped(each, self.table), self.table, self.log.present_ms),
                self.lost(each),
                known.get(each.object, RowOrigins(each.rows)),
            )
            for each in self._written
        )
        counts = RowCounts(
            rows_updated=sum(len(each.rows or ()) for each in replaced) - expired,
            rows_inserted=inserted,
            rowsets_touched=len(replaced),
            bytes_written=sum(each.bytes for each in self._written),
        )
        kept = tuple(each for each in added if len(each.deleted) < each.rowset.rows)
        return ResolvedRows(kept, tuple(replaced), counts.metrics())

    def _identified(self, meeting: Meeting) -> Iterator[pa.RecordBatch]:
        """Yield all merged rows. Only new rows get values in identity columns."""
        exact = arrow_schema(self.table.schema)
        for batch in meeting.updated():
            yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)
        if self._first or not identity_columns(self.table.schema):
            # Tasks have drawn values for the rows that they wrote.
            for batch in meeting.inserted():
                yield pa.RecordBatch.from_arrays(batch.columns, schema=exact)
            return
        draws = draws_of(self.log.plain, self.table, self._job_id)
        yield from identified(meeting.inserted(), self.table.name, self.table.schema, draws)
