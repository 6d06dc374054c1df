"""Read a scan plan into Arrow, and choose columns and rows of what is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, Protocol

import pyarrow as pa

from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.public import public
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.html import Rows, html_of
from colonnade.tableformat.predicate import Predicate, Where, parse_predicate
from colonnade.tableformat.predicate.expressions import conjunction
from colonnade.tableformat.progress import Advance, step
from colonnade.tableformat.rowset.column import check_names
from colonnade.tableformat.scan.arrow_rows import ArrowRows
from colonnade.tableformat.scan.open_rowsets import OpenedAhead
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan, read_plan_parallel
from colonnade.tableformat.types.arrow_types import arrow_schema

_SHOWN = 10
"""The first rows of a scan, as many as a notebook shows."""


class ScanSource(Protocol):
    """One state of a table, of which a scan chooses columns and rows.

    `again` makes a scan of columns, of a condition and of a limit in another process.
    """

    @property
    def again(self) -> Callable[[Sequence[str], Predicate | None, int | None], Scan] | None: ...

    def plan(self, columns: Sequence[str] | None, where: Predicate | None) -> ScanPlan:
        """Plan to read `columns` (None: all) of the rows that meet `where` (None: all)."""

    def count(self, where: Predicate | None) -> int:
        """Count the rows that meet `where` (None: all)."""


@public
class Scan(ArrowRows):
    """A planned read of one epoch.

    Each call of a method reads the data again, and returns the same rows. `select`, `filter` and
    `limit` return another scan of the same epoch, and read no data.
    """

    def __init__(
        self,
        store: ObjectStore,
        plan: ScanPlan,
        source: ScanSource,
        where: Predicate | None = None,
        ahead: OpenedAhead | None = None,
        limit: int | None = None,
    ) -> None:
        """`plan` reads the rows of `source` that meet `where`, of these the first `limit`.

        `ahead` has RowSets of the plan that are open already, for the first read.
        """
        self._store = store
        self._plan = plan
        self._source = source
        self._where = where
        self._ahead = ahead
        self._limit = limit

    @property
    def schema(self) -> pa.Schema:
        """The Arrow schema of the columns that the scan returns."""
        return arrow_schema(self._plan.output_schema)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that the scan returns, in order."""
        return list(self._plan.projection)

    @property
    def epoch(self) -> int:
        """The epoch that the scan reads."""
        return self._plan.epoch

    def select(self, *columns: str | Sequence[str]) -> Scan:
        """Return a scan of these columns alone, in this order. They are columns of this scan.

        Raises NotFoundError for a column that the scan does not have, and InvalidInputError for one
        that is named twice.
        """
        given: Any = columns[0] if len(columns) == 1 else columns
        given = (given,) if isinstance(given, str) else given
        names = check_names(given, "The columns of a scan")
        wanted = self._plan.output_schema.select(names).names
        return self._with(self._source.plan(wanted, self._where), self._where, self._limit)

    def filter(self, where: Where) -> Scan:
        """Return a scan of the rows that also meet a condition on any columns of the table.

        Reads the log as `ArrowTable.scan` does, and raises its errors. Raises InvalidInputError
        after `limit`, because the condition would choose other rows: filter first.
        """
        if self._limit is not None:
            raise InvalidInputError(
                "A scan with a limit cannot be filtered: call filter before limit."
            )
        added = parse_predicate(where)
        both = added if self._where is None else conjunction((self._where, added))
        return self._with(self._source.plan(self._plan.projection, both), both, None)

    def limit(self, rows: int) -> Scan:
        """Return a scan of the first `rows` rows, which opens no RowSet after them.

        Which rows are first is promised only if the scan has an order. Raises InvalidInputError
        unless `rows` is a whole number from 0.
        """
        wanted = row_number(rows, "A limit")
        fewer = wanted if self._limit is None else min(wanted, self._limit)
        return self._with(self._plan, self._where, fewer)

    def count(self) -> int:
        """Return the number of rows. The log tells it where the bounds of RowSets decide.

        Of the other RowSets, the columns of the condition are read.
        """
        if self._limit == 0:
            return 0
        found = self._source.count(self._where)
        return found if self._limit is None else min(found, self._limit)

    def __len__(self) -> int:
        """Return `count()`. `list(scan)` asks for it, too; `to_pylist` does not."""
        return self.count()

    def __bool__(self) -> bool:
        return True

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows as record batches, holding about one block of every column.

        With an order of rows, one block of each RowSet that overlaps the present key is held.
        """
        return self._read(read_plan)

    def to_arrow(self) -> pa.Table:
        """Read all rows into memory; without an order or a limit, decoding on all processors."""
        read = read_plan_parallel if self._limit is None else read_plan
        with step("read", self._plan.table, "rows", self._known_rows) as advance:
            batches = told(self._read(read), advance)
            return pa.Table.from_batches(batches, self.schema)

    def __reduce__(self) -> tuple[Callable[..., Scan], tuple[Any, ...]]:
        """Pickle what is read, and no rows: the other process plans the same read.

        Raises InvalidInputError for a scan of a transaction, which only this process sees.
        """
        if self._source.again is None:
            raise InvalidInputError(
                "A scan of a transaction cannot be pickled, because other processes do not see the"
                " transaction; read its rows, or commit first."
            )
        return self._source.again, (self._plan.projection, self._where, self._limit)

    def __repr__(self) -> str:
        where = "" if self._where is None else f", where={str(self._where)!r}"
        limit = "" if self._limit is None else f", limit={self._limit}"
        return f"Scan(columns={self.columns}, epoch={self.epoch}{where}{limit})"

    def _repr_html_(self) -> str:
        try:
            rows = self.limit(_SHOWN).to_pylist()
        except ColonnadeError as error:
            return html_of(repr(self), [("error", error.message)])
        return html_of(repr(self), (), Rows(self.columns, [[*row.values()] for row in rows]))

    @property
    def _known_rows(self) -> int | None:
        """The number of rows that a read returns, where the log tells it."""
        known, limit = self._plan.known_rows, self._limit
        return known if known is None or limit is None else min(known, limit)

    def _read(self, read: _Read) -> Iterator[pa.RecordBatch]:
        batches = read(self._store, self._plan, self._ahead)
        return batches if self._limit is None else _first_rows(batches, self._limit)

    def _with(self, plan: ScanPlan, where: Predicate | None, limit: int | None) -> Scan:
        return Scan(self._store, plan, self._source, where, None, limit)


_Read = Callable[[ObjectStore, ScanPlan, OpenedAhead | None], Iterator[pa.RecordBatch]]


def told(batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.RecordBatch]:
    """Yield batches, and tell the rows of each once it was used."""
    for batch in batches:
        yield batch
        advance(batch.num_rows)


def _first_rows(batches: Iterator[pa.RecordBatch], left: int) -> Iterator[pa.RecordBatch]:
    """Yield the first rows, and end the read after them."""
    if not left:
        return
    with closing(batches):  # type: ignore[type-var]  # they come from a generator
        for batch in batches:
            yield batch.slice(0, min(left, batch.num_rows))
            left -= batch.num_rows
            if left <= 0:
                return


def row_number(given: int, what: str) -> int:
    """Return a number of rows that a user gave.

    Raises InvalidInputError, whose sentence begins with `what`, unless it is a whole number from 0.
    """
    if type(given) is not int or given < 0:
        raise InvalidInputError(
            f"{what} must be a whole number of rows from 0, not {given!r:.100}."
        )
    return given
