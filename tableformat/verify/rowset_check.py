"""Check one RowSet: its deletion vector, footer and columns, and the order of its rows.

Continues after damage, so that all of it is found. Spec: docs/spec/rowset.md
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from colonnade.manifests.errors import ColonnadeError, CorruptionError
from colonnade.manifests.model.columns.internal import WRITTEN
from colonnade.manifests.model.entries import PartitionValues, SortField
from colonnade.manifests.object_names import deletion_vector_name, footer_name
from colonnade.manifests.state.replaced_columns import stored_parts
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.jobs import Stop
from colonnade.tableformat.rowset.column import column_of, stored_as
from colonnade.tableformat.rowset.deleted_rows import read_deleted
from colonnade.tableformat.rowset.footer import Footer, written_ms
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.stored.source import RowSetSource
from colonnade.tableformat.verify.column_check import ColumnCheck
from colonnade.tableformat.verify.findings import Finding, kind_of
from colonnade.tableformat.verify.job import VerifyJob, VerifyOutcome
from colonnade.tableformat.verify.order_check import first_unsorted
from colonnade.tableformat.verify.partition_check import first_astray
from colonnade.tableformat.verify.rowset_findings import RowSetFindings


def check_job(
    job: VerifyJob, store: ObjectStore | None = None, stop: Stop | None = None
) -> VerifyOutcome:
    """Check the RowSets of a job, on any machine. Damage is not an error, but a finding.

    Raises CancelledError soon after a stop is requested.
    """
    findings: list[Finding] = []
    read = 0
    for rowset in job.view.rowsets:
        for check in _checks(store or job.open_store(), job, rowset, stop or Stop()):
            findings += check.run().findings
            read += check.bytes
    return VerifyOutcome(findings=tuple(findings), bytes=read)


def _checks(
    store: ObjectStore, job: VerifyJob, rowset: LiveRowSet, stop: Stop
) -> Iterator[RowSetCheck]:
    """Yield the checks of a RowSet, and of each RowSet that replaces some of its columns."""
    own, *others = stored_parts(rowset)
    yield RowSetCheck(store, job, replace(rowset, entry=own, replacements=()), stop)
    for part, replacement in zip(others, rowset.replacements, strict=True):
        checked = LiveRowSet(rowset.id, rowset.epoch, part)
        yield RowSetCheck(store, job, checked, stop, columns=replacement.columns)


@dataclass(slots=True)
class RowSetCheck(RowSetFindings):
    """Checks one RowSet, or one that replaces `columns`, which it must then have."""

    columns: tuple[int, ...] = ()

    def run(self) -> RowSetCheck:
        """Check everything up to the depth, and return itself."""
        self._check_vector()
        source = RowSetSource(self.store, self.job.view.prefix, self.rowset.entry)
        entry = self.rowset.entry
        try:
            footer = source.footer()
        except ColonnadeError as error:
            name = footer_name(self.job.view.prefix, entry.object)
            file = name if entry.place == "directory" else source.column_segment_name(0)
            self.add(error.message, file, rows=(0, entry.rows - 1), kind=kind_of(error))
            return self
        self._check_size(source, footer)
        if missing := self._missing(footer):
            self.add(
                f"The RowSet that replaces columns {sorted(missing)} of RowSet"
                f" {self.rowset.id} does not have them.",
                source.column_segment_name(min(missing)),
            )
        fields = *self.job.view.columns.fields, WRITTEN
        columns = {field.id: column_of(field) for field in fields}
        for column_id, segment in footer.columns.items():
            self.stop.check()
            column = columns.get(column_id)
            stored = None if column is None else stored_as(column, segment.type)
            if column is not None and stored is None:
                self.add(
                    f"The footer of RowSet {self.rowset.id} states the type"
                    f" {segment.type!r:.100} of column {column.name!r}, which is not its type.",
                    source.column_segment_name(column_id),
                    rows=(0, entry.rows - 1),
                )
                continue
            ColumnCheck(self, source, segment, column_id, stored).run()
        if not self.findings:
            self._check_times(source, footer)
        whole = not self.columns and not self.findings
        if self.job.depth >= 4 and (order := self._order()) and whole:
            self._check_order(source, order)
        if self.job.depth >= 4 and entry.partition is not None and whole:
            self._check_partition(source, entry.partition)
        return self

    def _missing(self, footer: Footer) -> list[int]:
        """Return the columns of the table that a replacement must have, and does not have."""
        named = {field.id for field in self.job.view.columns.fields}.intersection(self.columns)
        return sorted(named.difference(footer.columns))

    def _check_partition(self, source: RowSetSource, values: PartitionValues) -> None:
        """Check that the rows belong to the RowSet's partition. Requires that all can be read."""
        reader = RowSetReader(self.store, self.job.view, self.rowset)
        fields = self.job.partition_layouts[self.rowset.entry.partition_layout_id - 1]
        row = first_astray(reader, self.job.view.columns, fields, values)
        if row is not None:
            self.add(
                f"RowSet {self.rowset.entry.object} has a row, {row}, outside of its partition"
                f" {', '.join(map(str, values))}.",
                source.column_segment_name(fields[0].column),
                rows=(row, row),
            )

    def _check_times(self, source: RowSetSource, footer: Footer) -> None:
        """Check what the log says of when rows were written. Requires sound columns."""
        entry = self.rowset.entry
        problem = _times_problem(entry.written_ms, footer)
        if problem is not None:
            self.add(
                f"It is not clear when the rows of RowSet {entry.object} were written: {problem}",
                source.column_segment_name(WRITTEN.id),
                rows=(0, entry.rows - 1),
            )

    def _order(self) -> tuple[SortField, ...]:
        """Return the order that the rows must have; nothing if they may have any order."""
        orders, number = self.job.sort_orders, self.rowset.entry.sort_order_id
        return orders[number] if number < len(orders) else orders[0]

    def _check_order(self, source: RowSetSource, order: Sequence[SortField]) -> None:
        """Check that the rows are in an order. Requires that all can be read."""
        reader = RowSetReader(self.store, self.job.view, self.rowset)
        row = first_unsorted(reader, self.job.view.columns, order)
        if row is not None:
            self.add(
                f"RowSet {self.rowset.entry.object} is not in the order of its sort key:"
                f" row {row} belongs before row {row - 1}.",
                source.column_segment_name(order[0].column),
                rows=(row - 1, row),
            )

    def _check_vector(self) -> None:
        vector = self.rowset.vector
        if vector is None:
            return
        prefix, rows = self.job.view.prefix, self.rowset.entry.rows
        try:
            read_deleted(self.store, self.job.view, self.rowset)
        except ColonnadeError as error:
            file = None if vector.data else deletion_vector_name(prefix, vector.object)
            self.add(error.message, file, rows=(0, rows - 1), kind=kind_of(error))

    def _check_size(self, source: RowSetSource, footer: Footer) -> None:
        entry = self.rowset.entry
        parts = [each.length for each in footer.columns.values()]
        parts += [each.index.length for each in footer.columns.values() if each.index]
        parts += [each.filters.length for each in footer.columns.values() if each.filters]
        stored = sum(parts) + entry.footer.length
        if stored != entry.bytes:
            self.add(
                f"RowSet {entry.object} takes {stored} bytes, but the log states {entry.bytes}.",
                source.column_segment_name(0) if entry.place == "packed" else None,
            )


def _times_problem(stated: tuple[int, int] | None, footer: Footer) -> str | None:
    try:
        stored = written_ms(footer.columns)
    except CorruptionError as error:
        return error.message
    # Rows of one time need no column of it.
    if stored == stated or (stored is None and stated is not None and stated[0] == stated[1]):
        return None
    return f"the column of it has {stored or 'no times'}, the log {stated or 'none'}."
