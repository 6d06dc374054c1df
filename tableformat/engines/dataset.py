"""A scan as a dataset of pyarrow, which DuckDB, Polars, DataFusion and Ibis read.

They ask a dataset for columns and hand it a filter. DuckDB drops a filter that it has handed over,
so it is applied exactly here: see `predicate/foreign/arrow.py` for what it means.

The classes of pyarrow keep objects of C++. A dataset has one that raises an error when it is read,
because code of C++ cannot call Python back for other rows. A fragment and a scanner have none. So
they only have the methods of pyarrow's classes: an object of such a class would crash in C++.
"""

from __future__ import annotations

import io
from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import closing
from operator import index
from typing import Any

import pyarrow as pa
from pyarrow import dataset as pads

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.engines.engine_scan import EngineScan
from colonnade.tableformat.engines.filtered_scan import Columns, FilteredScan, filtered
from colonnade.tableformat.types.chosen_rows import first_rows
from colonnade.tableformat.types.compute import pc
from colonnade.tableformat.types.sound_arrays import with_whole_structs

_MOST_ROWS = 2**31
"""More rows than a batch has."""


class _Reads:
    """The methods of a dataset and of a fragment that read rows: each asks a new scanner."""

    @abstractmethod
    def scanner(self, *args: Any, **options: Any) -> DatasetScanner:
        """Plan a read."""

    def to_batches(self, *args: Any, **options: Any) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows; the arguments are those of `scanner`."""
        return self.scanner(*args, **options).to_batches()

    def to_table(self, *args: Any, **options: Any) -> pa.Table:
        """Read the rows into memory; the arguments are those of `scanner`."""
        return self.scanner(*args, **options).to_table()

    def head(self, num_rows: int, *args: Any, **options: Any) -> pa.Table:
        """Read the first rows; the other arguments are those of `scanner`."""
        return self.scanner(*args, **options).head(num_rows)

    def take(self, indices: Any, *args: Any, **options: Any) -> pa.Table:
        """Read the rows with some numbers; the other arguments are those of `scanner`."""
        return self.scanner(*args, **options).take(indices)

    def count_rows(self, filter: Any | None = None, *args: Any, **options: Any) -> int:
        """Count the rows that meet a filter. The log tells it where it can."""
        return int(self.scanner([], filter, *args, **options).count_rows())

    @property
    def partition_expression(self) -> Any:
        """What is known of every row: nothing."""
        return pc.scalar(True)


class ScanDataset(_Reads, pads.UnionDataset):  # type: ignore[misc]  # pyarrow has no types
    """A scan as a `pyarrow.dataset.Dataset`: `ArrowTable.dataset` and `Scan.dataset` make it.

    Every read returns rows of one epoch. A filter is a `pyarrow.compute.Expression`. It has the
    meaning of a predicate: NULL is unknown, also to `isin`, and NaN is equal to itself and above
    every number. Conditions that a predicate can state skip RowSets and blocks. Arrow evaluates
    all others on the rows. Batches are decoded in as many threads as `pyarrow.cpu_count()` says,
    and one thread without `use_threads`.

    Arrow's own C++ code cannot read it, and raises InvalidInputError: `Table.join` of a dataset,
    `Scanner.from_dataset` and a union of datasets do. `pyarrow.dataset.write_dataset` writes it.
    """

    def __init__(self, scan: EngineScan, expression: Any | None = None) -> None:
        """`expression` (None: all rows) chooses rows of the scan."""
        super().__init__(scan.schema, [_unreadable(scan.schema)])
        self._scan = scan
        self._expression = expression

    @property
    def schema(self) -> pa.Schema:
        """The columns of the dataset."""
        return self._scan.schema

    @property
    def children(self) -> list[Any]:
        """The datasets that this one is made of: none."""
        return []

    def scanner(
        self,
        columns: Columns = None,
        filter: Any | None = None,
        batch_size: int | None = None,
        *_: Any,
        use_threads: bool | None = None,
        **options: Any,
    ) -> Any:
        """Plan to read `columns` of the rows that meet `filter`, in batches of `batch_size` rows.

        A column is a name, or an expression by its name in a dict. Reads the log, and no rows.
        `options` of pyarrow about reading ahead and memory are taken, and change nothing. Raises
        NotFoundError for an unknown column, InvalidInputError for an argument of another type, and
        the errors of Arrow for an expression that it refuses.
        """
        if batch_size is not None:
            batch_size = _count(batch_size, 1, "batch_size")
        plan = filtered(self._scan, columns, _both(self._expression, filter))
        scanner = DatasetScanner(self, plan, batch_size, 1 if use_threads is False else None)
        # `write_dataset` states this option, and needs a scanner of C++.
        return scanner if use_threads is None else scanner.of_arrow()

    def get_fragments(self, filter: Any | None = None) -> Iterator[ScanFragment]:
        """Yield a fragment for each RowSet that may have rows that meet `filter`.

        A scan with an order or a limit is one fragment.
        """
        expression = _both(self._expression, filter)
        for part in filtered(self._scan, None, expression).scan.parts():
            yield ScanFragment(part, self._expression)

    def filter(self, expression: Any) -> ScanDataset:
        """Return the dataset of the rows that also meet an expression. Reads nothing."""
        return ScanDataset(self._scan, _both(self._expression, expression))

    def replace_schema(self, schema: pa.Schema) -> ScanDataset:
        """Raise InvalidInputError: a table decides its columns."""
        raise InvalidInputError(
            "A dataset has the columns of its table: read another schema with schema_epoch, or cast"
            " columns by scanner(columns={name: expression})."
        )

    def sort_by(self, sorting: Any, **options: Any) -> Any:
        """Read all rows, and return them in an order, as pyarrow does."""
        return self._in_memory().sort_by(sorting, **options)

    def join(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        """Read all rows, and join them with those of another dataset, as pyarrow does."""
        return self._in_memory().join(_readable(right_dataset), *args, **options)

    def join_asof(self, right_dataset: Any, *args: Any, **options: Any) -> Any:
        """Read all rows, and join them with the nearest of another dataset, as pyarrow does."""
        return self._in_memory().join_asof(_readable(right_dataset), *args, **options)

    def __reduce__(self) -> tuple[Callable[..., ScanDataset], tuple[Any, ...]]:
        """Pickle what is read, and no rows. Raises InvalidInputError as a scan does."""
        return ScanDataset, (self._scan, self._expression)

    def __repr__(self) -> str:
        where = "" if self._expression is None else f", filter={str(self._expression)!r}"
        return f"{type(self).__name__}({self._scan!r}{where})"

    def _in_memory(self) -> Any:
        return pads.InMemoryDataset(self.to_table())


class ScanFragment(_Reads):
    """The part of a dataset that lies in one RowSet."""

    def __init__(self, scan: EngineScan, expression: Any | None) -> None:
        self._dataset = ScanDataset(scan, expression)

    @property
    def physical_schema(self) -> pa.Schema:
        """The columns of the dataset."""
        return self._dataset.schema

    def scanner(self, schema: pa.Schema | None = None, *args: Any, **options: Any) -> Any:
        """Plan a read as `ScanDataset.scanner` does. `schema` must be that of the dataset."""
        if schema is not None and not schema.equals(self.physical_schema):
            return self._dataset.replace_schema(schema)
        return self._dataset.scanner(*args, **options)

    def count_rows(self, filter: Any | None = None, *args: Any, **options: Any) -> int:
        """Count the rows that meet a filter. The log tells it where it can."""
        return self._dataset.count_rows(filter, *args, **options)

    def __reduce__(self) -> tuple[Callable[..., ScanFragment], tuple[Any, ...]]:
        return ScanFragment, self._dataset.__reduce__()[1]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._dataset!r})"


class DatasetScanner:
    """One planned read of a dataset. Each method reads the rows again."""

    def __init__(
        self,
        dataset: ScanDataset,
        plan: FilteredScan,
        batch_size: int | None,
        threads: int | None,
    ) -> None:
        self._dataset = dataset
        self._plan = plan
        self._batch_size = batch_size
        self._threads = threads

    @property
    def dataset_schema(self) -> pa.Schema:
        """The columns of the dataset."""
        return self._dataset.schema

    @property
    def projected_schema(self) -> pa.Schema:
        """The columns of the result."""
        return self._plan.schema

    def to_batches(self) -> Iterator[pa.RecordBatch]:
        """Iterate over the rows, holding a few blocks of each thread."""
        batches = self._plan.batches(self._threads)
        pieces = batches if self._batch_size is None else _pieces(batches, self._batch_size)
        return with_whole_structs(pieces)

    def scan_batches(self) -> Iterator[Any]:
        """Iterate over the rows with their fragment: that of the whole dataset."""
        fragment = ScanFragment(self._dataset._scan, self._dataset._expression)
        return (pads.TaggedRecordBatch(batch, fragment) for batch in self.to_batches())

    def to_reader(self) -> pa.RecordBatchReader:
        """Stream the rows."""
        return pa.RecordBatchReader.from_batches(self.projected_schema, self.to_batches())

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows to any library that supports the Arrow C stream interface."""
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def to_table(self) -> pa.Table:
        """Read the rows into memory."""
        return pa.Table.from_batches(self.to_batches(), self.projected_schema)

    def head(self, num_rows: int) -> pa.Table:
        """Read the first rows, and little more."""
        rows = first_rows(self._plan.batches(1), _count(num_rows, 0, "num_rows"))
        return pa.Table.from_batches(rows, self.projected_schema)

    def take(self, indices: Any) -> pa.Table:
        """Read the rows with some numbers, which count the rows of this scanner from 0.

        Reads up to the last of them. Raises IndexError for a number beyond the rows, and
        InvalidInputError for anything but whole numbers.
        """
        wanted = _row_numbers(indices)
        numbers = pc.unique(wanted).sort()
        found, first = list[pa.RecordBatch](), 0
        with closing(self.to_batches()) as batches:  # type: ignore[type-var]
            for batch in batches if len(numbers) else ():
                here = pc.and_(
                    pc.greater_equal(numbers, first), pc.less(numbers, first + batch.num_rows)
                )
                found.append(batch.take(pc.subtract(numbers.filter(here), first)))
                first += batch.num_rows
                if first > numbers[-1].as_py():
                    break
        if len(numbers) and numbers[-1].as_py() >= first:
            raise IndexError(f"There is no row {numbers[-1]}: the scan has {first} rows.")
        rows = pa.Table.from_batches(found, self.projected_schema)
        return rows.take(pc.index_in(wanted, numbers))

    def count_rows(self) -> int:
        """Count the rows. The log tells it where it can."""
        return self._plan.count()

    def of_arrow(self) -> Any:
        """Return a scanner of C++ of these rows, which can be read once.

        Arrow reads up to 1 GiB ahead of what takes its rows.
        """
        return pads.Scanner.from_batches(self.to_reader())


def _unreadable(schema: pa.Schema) -> Any:
    """Return a dataset of C++ that raises InvalidInputError when Arrow reads it."""
    form = pads.IpcFileFormat()
    fragment = form.make_fragment(pa.PythonFile(_UnreadableFile(), mode="r"))
    return pads.FileSystemDataset([fragment], schema, form)


class _UnreadableFile(io.RawIOBase):
    """A file that says why there is nothing in it for Arrow."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def _refuse(self, *_: object) -> Any:
        raise InvalidInputError(
            "Arrow's own C++ code cannot read a dataset of Colonnade; give it the rows, by to_table"
            " or scanner().to_reader()."
        )

    seek = tell = read = _refuse


def _count(given: Any, least: int, what: str) -> int:
    """Return a number of rows. Raises InvalidInputError that names the argument `what`."""
    try:
        count = -1 if isinstance(given, bool) else index(given)
    except TypeError:
        count = -1
    if count < least:
        raise InvalidInputError(
            f"{what} must be a whole number of rows from {least}, not {given!r:.100}."
        )
    return min(count, _MOST_ROWS)


def _row_numbers(indices: Any) -> pa.Array:
    """Return the numbers of rows. Raises InvalidInputError, and IndexError for one below 0."""
    try:
        given = pa.array(indices)
        numbers = given.cast(pa.int64()) if pa.types.is_integer(given.type) else given
    except (pa.ArrowException, TypeError, OverflowError):
        numbers = pa.nulls(1)
    if len(numbers) and (numbers.type != pa.int64() or numbers.null_count):
        raise InvalidInputError(f"Rows are taken by whole numbers, not by {indices!r:.100}.")
    numbers = numbers.cast(pa.int64())
    if (least := pc.min(numbers).as_py() or 0) < 0:
        raise IndexError(f"There is no row {least}: rows are counted from 0.")
    return numbers


def _both(left: Any | None, right: Any | None) -> Any | None:
    for each in (left, right):
        if each is not None and not isinstance(each, pc.Expression):
            raise InvalidInputError(
                f"filter must be a pyarrow.compute.Expression, not {each!r:.100}."
            )
    if left is None or right is None:
        return right if left is None else left
    return left & right


def _pieces(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Yield batches of at most `rows` rows."""
    with closing(batches):  # type: ignore[type-var]  # they come from a generator
        for batch in batches:
            for first in range(0, batch.num_rows, rows):
                yield batch.slice(first, rows)


def _readable(dataset: Any) -> Any:
    return dataset._in_memory() if isinstance(dataset, ScanDataset) else dataset
