"""The rows of a table as methods, of a table and of a table in a transaction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import TableSchema, type_text
from colonnade.tableformat.predicate import Where
from colonnade.tableformat.scan.arrow_scan import Scan, row_number


class TableReads(ABC):
    """Ways to read a table that need no more words than `scan`. Each of them plans a scan anew."""

    @abstractmethod
    def scan(self, columns: Sequence[str] | None = None, where: Where | None = None) -> Scan:
        """Plan to read `columns` (None: all) of the rows that meet `where` (None: all)."""

    @property
    @abstractmethod
    def _columns(self) -> TableSchema:
        """The columns of the table."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns, in order."""
        return list(self._columns.names)

    @property
    def dtypes(self) -> dict[str, str]:
        """The types of the columns by name, such as `long` or `decimal(9,2)`."""
        return {field.name: type_text(field.type) for field in self._columns.fields}

    @property
    def num_rows(self) -> int:
        """The number of rows: `count()`."""
        return self.count()

    def count(self, where: Where | None = None) -> int:
        """Return the number of rows that meet `where` (None: all).

        The log tells it where the bounds of RowSets decide. Of the other RowSets, the columns of
        the condition are read. Raises the errors of `scan`.
        """
        return self.scan((), where).count()

    def __len__(self) -> int:
        return self.count()

    def __bool__(self) -> bool:
        return True

    def limit(self, rows: int) -> Scan:
        """Plan to read the first `rows` rows. A table has no order of rows, so they may be any."""
        return self.scan().limit(rows)

    def head(self, rows: int = 5) -> pa.Table:
        """Read the first `rows` rows into an Arrow table: `limit(rows).to_arrow()`."""
        return self.limit(rows).to_arrow()

    def take(self, rows: int) -> list[dict[str, Any]]:
        """Read the first `rows` rows as dicts by column, as Spark does: `limit(rows).to_pylist()`.

        Rows have no numbers, so a list of numbers is refused with InvalidInputError.
        """
        if isinstance(rows, Sequence):
            raise InvalidInputError(
                "take reads the first rows and takes their number, because rows of a table have no"
                " numbers; choose rows with scan(where=...), or by their key with get."
            )
        return self.scan().limit(row_number(rows, "The rows to take")).to_pylist()

    def to_arrow(
        self, columns: Sequence[str] | None = None, where: Where | None = None
    ) -> pa.Table:
        """Read rows into an Arrow table: `scan(columns, where).to_arrow()`."""
        return self.scan(columns, where).to_arrow()

    def dataset(self, columns: Sequence[str] | None = None, where: Where | None = None) -> Any:
        """Plan to read rows as a `pyarrow.dataset.Dataset`: `scan(columns, where).dataset()`."""
        return self.scan(columns, where).dataset()

    def to_pandas(
        self, columns: Sequence[str] | None = None, where: Where | None = None, **options: Any
    ) -> Any:
        """Read rows into a pandas frame; `options` go to `pyarrow.Table.to_pandas`."""
        return self.scan(columns, where).to_pandas(**options)

    def to_polars(
        self,
        columns: Sequence[str] | None = None,
        where: Where | None = None,
        *,
        lazy: bool = False,
    ) -> Any:
        """Read rows into a Polars frame, or a lazy one: `scan(columns, where).to_polars(lazy=…)`.

        Raises ImportError if Polars is not installed.
        """
        return self.scan(columns, where).to_polars(lazy=lazy)

    def to_pylist(
        self, columns: Sequence[str] | None = None, where: Where | None = None
    ) -> list[dict[str, Any]]:
        """Read rows as dicts by column: `scan(columns, where).to_pylist()`."""
        return self.scan(columns, where).to_pylist()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows to any library that supports the Arrow C stream interface."""
        return self.scan().__arrow_c_stream__(requested_schema)
