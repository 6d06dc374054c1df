"""Read a scan plan into Arrow, and choose columns and rows of what is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from colonnade.manifests.errors import ColonnadeError, InvalidInputError
from colonnade.manifests.later import later
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
from colonnade.tableformat.types.chosen_rows import first_rows
from colonnade.tableformat.types.sound_arrays import with_whole_structs

if TYPE_CHECKING:
    from colonnade.tableformat.engines import dataset as datasets
    from colonnade.tableformat.engines import polars_frame as frames
else:
    datasets = later("colonnade.tableformat.engines.dataset")
    frames = later("colonnade.tableformat.engines.polars_frame")

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


@dataclass(frozen=True, slots=True)
class PartSource:
    """The rows of one RowSet of a source, by the number of the RowSet."""

    store: ObjectStore
    whole: ScanSource
    rowset: int

    @property
    def again(self) -> Callable[[Sequence[str], Predicate | None, int | None], Scan] | None:
        """Make a scan of the part in another process."""
        again = self.whole.again
        return None if again is None else partial(_part_again, again, self.rowset)

    def plan(self, columns: Sequence[str] | None, where: Predicate | None) -> ScanPlan:
        """Plan a scan of the part. Raises the errors of the source."""
        plan = self.whole.plan(columns, where)
        return plan.of(each for each in plan.rowsets if each.rowset.id == self.rowset)

    def count(self, where: Predicate | None) -> int:
        """Count rows of the part. Reads them, unless the log tells how many they are."""
        plan = self.plan((), where)
        if plan.known_rows is not None:
            return plan.known_rows
        return sum(batch.num_rows for batch in read_plan_parallel(self.store, plan))


def _part_again(
    again: Callable[[Sequence[str], Predicate | None, int | None], Scan],
    rowset: int,
    columns: Sequence[str],
    where: Predicate | None,
    limit: int | None,
) -> Scan:
    whole = again(columns, where, None)
    source = PartSource(whole._store, whole._source, rowset)
    return Scan(whole._store, source.plan(columns, where), source, where, None, limit)


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

    def to_batches(self, threads: int | None = 1) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows as record batches, holding about one block of every column.

        With an order of rows, one block of each RowSet that overlaps the present key is held.

        `threads` decode at once; None means as many as Arrow uses, which `pyarrow.set_cpu_count`
        sets. Each of them holds a few blocks of every column. A scan with an order or a limit is
        read by one. Raises InvalidInputError unless it is a whole number from 1.
        """
        if threads is not None and (type(threads) is not int or threads < 1):
            raise InvalidInputError(
                f"threads must be a whole number from 1, or None, not {threads!r:.100}."
            )
        batches = (
            read_plan_parallel(self._store, self._plan, self._ahead, threads)
            if self._limit is None
            else read_plan(self._store, self._plan, self._ahead)
        )
        chosen = batches if self._limit is None else first_rows(batches, self._limit)
        return with_whole_structs(chosen)

    def to_reader(self, threads: int | None = None) -> pa.RecordBatchReader:
        """Stream the rows, holding as much as `to_batches`, whose `threads` these are."""
        return pa.RecordBatchReader.from_batches(self.schema, self.to_batches(threads))

    def to_arrow(self, threads: int | None = None) -> pa.Table:
        """Read all rows into memory. `threads` are those of `to_batches`."""
        with step("read", self._plan.table, "rows", self._known_rows) as advance:
            batches = with_progress(self.to_batches(threads), advance)
            return pa.Table.from_batches(batches, self.schema)

    def to_polars(self, *, lazy: bool = False) -> Any:
        """Read all rows into a Polars frame, or return a `polars.LazyFrame` that reads none yet.

        A lazy frame reads what a query needs each time that it is collected, in bounded memory.
        Raises ImportError if Polars is not installed.
        """
        return frames.lazy_frame_of(self) if lazy else super().to_polars()

    def dataset(self) -> Any:
        """Return the scan as a `pyarrow.dataset.Dataset`, which DuckDB and others filter as theirs.

        A scan with a limit chooses among its first rows.
        """
        return datasets.ScanDataset(self)

    @property
    def is_limited(self) -> bool:
        """Whether the scan has a limit, and so cannot be filtered."""
        return self._limit is not None

    def parts(self) -> list[Scan]:
        """Return scans that together return these rows, in this order: one for each RowSet.

        They can be pickled, and read by different processes. A scan with an order or a limit is one
        part.
        """
        if self._plan.order is not None or self._limit is not None:
            return [self]
        return [
            Scan(
                self._store,
                self._plan.of([each]),
                PartSource(self._store, self._source, each.rowset.id),
                self._where,
            )
            for each in self._plan.rowsets
        ]

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

    def _with(self, plan: ScanPlan, where: Predicate | None, limit: int | None) -> Scan:
        return Scan(self._store, plan, self._source, where, None, limit)


def with_progress(batches: Iterator[pa.RecordBatch], advance: Advance) -> Iterator[pa.RecordBatch]:
    """Yield batches, and tell the rows of each once it was used."""
    for batch in batches:
        yield batch
        advance(batch.num_rows)


def row_number(given: int, what: str) -> int:
    """Return a number of rows that a user gave.

    Raises InvalidInputError, whose sentence begins with `what`, unless it is a whole number from 0.
    """
    if type(given) is not int or given < 0:
        raise InvalidInputError(
            f"{what} must be a whole number of rows from 0, not {given!r:.100}."
        )
    return given
