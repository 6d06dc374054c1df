"""One table in five libraries: each writes, reads and changes it.

A task opens the table anew. Rows come as Arrow tables, and tasks that read return one.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

TWO = ("id", "price")
DAY, CATEGORY = "2025-07-01", "category 7"
NAME = "name 4711"
CHANGED = tuple(range(1_000, 51_000, 1_000))
"""The ids of the rows that an update changes."""

_IDS = f"id IN ({', '.join(map(str, CHANGED))})"
_PART = f"day = DATE '{DAY}' AND category = '{CATEGORY}'"


class Side(ABC):
    """A library with the table in a folder."""

    def __init__(self, folder: Path) -> None:
        """Find the folder, which `write` fills. Reads nothing."""
        self.folder = folder

    @abstractmethod
    def write(self, rows: pa.Table) -> None:
        """Make the table of rows."""

    def all(self) -> pa.Table:
        """Read all rows."""
        return self.read((), "")

    def two(self) -> pa.Table:
        """Read two columns of all rows."""
        return self.read(TWO, "")

    def part(self) -> pa.Table:
        """Read the rows of a day and a category."""
        return self.read((), _PART)

    def one(self) -> pa.Table:
        """Read the row with an id."""
        return self.read((), f"id = {CHANGED[-1]}")

    @abstractmethod
    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        """Read columns (none: all) of rows that meet a condition (empty: all)."""

    @abstractmethod
    def upsert(self, rows: pa.Table) -> None:
        """Replace rows of the table by those with the same ids, and insert the other rows."""

    @abstractmethod
    def delete(self) -> None:
        """Delete the rows with a name."""

    @abstractmethod
    def update(self) -> None:
        """Add 1 to the count of the rows with fifty ids."""


class MergingSide(Side):
    """A library that has MERGE, or a statement that does what this one needs."""

    @abstractmethod
    def merge(self, rows: pa.Table) -> None:
        """As `upsert`, but leave rows alone whose count is greater."""


class Colonnade(MergingSide):
    """Colonnade, with a primary key."""

    def write(self, rows: pa.Table) -> None:
        _of("colonnade").create(self.folder, rows, primary_key=["id"])

    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        return self._table.to_arrow(columns or None, where or None)

    def upsert(self, rows: pa.Table) -> None:
        self._table.upsert(rows)

    def delete(self) -> None:
        self._table.delete(f"name = '{NAME}'")

    def update(self) -> None:
        self._table.update({"count": "count + 1"}, _IDS)

    def merge(self, rows: pa.Table) -> None:
        merge = self._table.merge(rows, on="id")
        merge = merge.when_matched_update_all("source.count > target.count")
        merge.when_not_matched_insert_all().execute()

    @property
    def _table(self) -> Any:
        return _of("colonnade").open(self.folder)


class DeltaRs(MergingSide):
    """delta-rs. Its SQL reads, because it has no other filter of dates and texts."""

    def write(self, rows: pa.Table) -> None:
        _of("deltalake").write_deltalake(self.folder, rows)

    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        delta = _of("deltalake")
        query = delta.QueryBuilder().register("t", self._table)
        text = f"SELECT {', '.join(columns) or '*'} FROM t" + (f" WHERE {where}" if where else "")
        return pa.table(query.execute(text).read_all())

    def upsert(self, rows: pa.Table) -> None:
        merge = self._merge(rows).when_matched_update_all()
        merge.when_not_matched_insert_all().execute()

    def delete(self) -> None:
        self._table.delete(f"name = '{NAME}'")

    def update(self) -> None:
        self._table.update({"count": "count + 1"}, predicate=_IDS)

    def merge(self, rows: pa.Table) -> None:
        merge = self._merge(rows).when_matched_update_all("s.count > t.count")
        merge.when_not_matched_insert_all().execute()

    def _merge(self, rows: pa.Table) -> Any:
        return self._table.merge(rows, "t.id = s.id", source_alias="s", target_alias="t")

    @property
    def _table(self) -> Any:
        return _of("deltalake").DeltaTable(self.folder)


class PyIceberg(Side):
    """PyIceberg, with a catalog in a file of SQLite. It has no MERGE, and no UPDATE."""

    def write(self, rows: pa.Table) -> None:
        self.folder.mkdir()
        catalog = self._catalog
        catalog.create_namespace("db")
        catalog.create_table("db.t", rows.schema).append(rows)

    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        condition = where.replace("DATE ", "") if where else "true"
        return self._table.scan(condition, selected_fields=columns or ("*",)).to_arrow()

    def upsert(self, rows: pa.Table) -> None:
        self._table.upsert(rows, join_cols=["id"])

    def delete(self) -> None:
        self._table.delete(f"name = '{NAME}'")

    def update(self) -> None:
        table = self._table
        rows = table.scan(_IDS).to_arrow()
        at = rows.schema.get_field_index("count")
        counts = pc.cast(pc.add(rows["count"], 1), rows.schema.field(at).type)
        table.overwrite(rows.set_column(at, rows.schema.field(at), counts), _IDS)

    @property
    def _catalog(self) -> Any:
        kind = _of("pyiceberg.catalog.sql").SqlCatalog
        where = {"uri": f"sqlite:///{self.folder}/catalog.db", "warehouse": str(self.folder)}
        return kind("libraries", **where)

    @property
    def _table(self) -> Any:
        return self._catalog.load_table("db.t")


class Lance(MergingSide):
    """Lance, without an index."""

    def write(self, rows: pa.Table) -> None:
        _of("lance").write_dataset(rows, self.folder)

    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        return self._table.to_table(list(columns) or None, filter=where or None)

    def upsert(self, rows: pa.Table) -> None:
        merge = self._table.merge_insert("id").when_matched_update_all()
        merge.when_not_matched_insert_all().execute(rows)

    def delete(self) -> None:
        self._table.delete(f"name = '{NAME}'")

    def update(self) -> None:
        self._table.update({"count": "count + 1"}, _IDS)

    def merge(self, rows: pa.Table) -> None:
        merge = self._table.merge_insert("id")
        merge = merge.when_matched_update_all("source.count > target.count")
        merge.when_not_matched_insert_all().execute(rows)

    @property
    def _table(self) -> Any:
        return _of("lance").dataset(self.folder)


class DuckDB(MergingSide):
    """DuckDB with a file of its own, without an index."""

    def write(self, rows: pa.Table) -> None:
        self.folder.mkdir()
        self._run("CREATE TABLE t AS FROM source", rows)

    def read(self, columns: tuple[str, ...], where: str) -> pa.Table:
        with self._open() as connection:
            text = f"SELECT {', '.join(columns) or '*'} FROM t WHERE {where or 'true'}"
            return connection.sql(text).to_arrow_table()

    def upsert(self, rows: pa.Table) -> None:
        self._run(
            "MERGE INTO t USING source s ON t.id = s.id WHEN MATCHED THEN UPDATE"
            " WHEN NOT MATCHED THEN INSERT",
            rows,
        )

    def delete(self) -> None:
        self._run(f"DELETE FROM t WHERE name = '{NAME}'")

    def update(self) -> None:
        self._run(f"UPDATE t SET count = count + 1 WHERE {_IDS}")

    def merge(self, rows: pa.Table) -> None:
        self._run(
            "MERGE INTO t USING source s ON t.id = s.id WHEN MATCHED AND s.count > t.count"
            " THEN UPDATE WHEN NOT MATCHED THEN INSERT",
            rows,
        )

    def _run(self, text: str, rows: pa.Table | None = None) -> None:
        with self._open() as connection:
            if rows is not None:
                connection.register("source", rows)
            connection.execute(text)

    def _open(self) -> Any:
        return _of("duckdb").connect(str(self.folder / "t.duckdb"))


def _of(module: str) -> Any:
    return importlib.import_module(module)


SIDES: dict[str, type[Side]] = {
    "Colonnade": Colonnade,
    "delta-rs": DeltaRs,
    "PyIceberg": PyIceberg,
    "Lance": Lance,
    "DuckDB": DuckDB,
}
