"""Compare Colonnade, PyIceberg and delta-rs without Spark, in a bucket 20 ms away.

Needs `PYTHONPATH=$(python tests/setup/lakes.py)`. PyIceberg commits to a catalog in SQLite
on this machine, and delta-rs by conditional writes.
"""

from __future__ import annotations

import importlib
import itertools
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio
from benchmarks.stores.stores import FarBucket, place
from tests.setup.minio import KEY, SECRET

TARGET = 0.5
APPENDS = 20
COLUMNS = ["l_quantity", "l_extendedprice", "l_discount", "l_tax"]
ROWS = pa.table({"id": range(10), "name": [f"n{i}" for i in range(10)]})


class Side:
    """One library: makes a table of rows, appends rows to a table, and reads columns of a table."""

    def __init__(self, found: FarBucket, folder: Path) -> None:
        """Reach the bucket of `found`; `folder` is for files beside it."""

    def create(self, name: str, rows: pa.Table) -> Any:
        """Make a table of rows. Returns it open."""
        raise NotImplementedError

    def append(self, table: Any, rows: pa.Table) -> None:
        """Append rows to an open table."""
        raise NotImplementedError

    def read(self, name: str, columns: list[str]) -> pa.Table:
        """Open a table and read columns."""
        raise NotImplementedError


class Colonnade(Side):
    """Colonnade's own API."""

    def __init__(self, found: FarBucket, folder: Path) -> None:
        self._url = f"s3://{found.bucket}/colonnade"
        self._options = found.server.options(endpoint_url=found.network.url)

    def create(self, name: str, rows: pa.Table) -> Any:
        url = f"{self._url}/{name}"
        table = colonnade.create(url, rows.schema, storage_options=self._options)
        table.append(rows)
        return table

    def append(self, table: Any, rows: pa.Table) -> None:
        table.append(rows)

    def read(self, name: str, columns: list[str]) -> pa.Table:
        table = colonnade.open(f"{self._url}/{name}", storage_options=self._options)
        return table.scan(columns).to_arrow()


class PyIceberg(Side):
    """PyIceberg with a catalog in SQLite."""

    def __init__(self, found: FarBucket, folder: Path) -> None:
        kind = importlib.import_module("pyiceberg.catalog.sql").SqlCatalog
        self._catalog = kind(
            "benchmark",
            **{
                "uri": f"sqlite:///{found.server.folder}/iceberg.db",
                "warehouse": f"s3://{found.bucket}/iceberg",
                "s3.endpoint": found.network.url,
                "s3.access-key-id": KEY,
                "s3.secret-access-key": SECRET,
                "s3.region": "us-east-1",
            },
        )
        self._catalog.create_namespace("db")

    def create(self, name: str, rows: pa.Table) -> Any:
        table = self._catalog.create_table(f"db.{name}", rows.schema)
        table.append(rows)
        return table

    def append(self, table: Any, rows: pa.Table) -> None:
        table.append(rows)

    def read(self, name: str, columns: list[str]) -> pa.Table:
        table = self._catalog.load_table(f"db.{name}")
        found: pa.Table = table.scan(selected_fields=tuple(columns)).to_arrow()
        return found


class DeltaRs(Side):
    """delta-rs with conditional writes."""

    def __init__(self, found: FarBucket, folder: Path) -> None:
        self._delta: Any = importlib.import_module("deltalake")
        self._url = f"s3://{found.bucket}/delta"
        self._options = {
            "AWS_ENDPOINT_URL": found.network.url,
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_ALLOW_HTTP": "true",
            "aws_conditional_put": "etag",
        }

    def create(self, name: str, rows: pa.Table) -> Any:
        url = f"{self._url}/{name}"
        self._delta.write_deltalake(url, rows, storage_options=self._options)
        return self._delta.DeltaTable(url, storage_options=self._options)

    def append(self, table: Any, rows: pa.Table) -> None:
        self._delta.write_deltalake(table, rows, mode="append")

    def read(self, name: str, columns: list[str]) -> pa.Table:
        table = self._delta.DeltaTable(f"{self._url}/{name}", storage_options=self._options)
        found: pa.Table = table.to_pyarrow_table(columns=columns)
        return found


SIDES: dict[str, type[Side]] = {
    "Colonnade": Colonnade, "PyIceberg": PyIceberg, "delta-rs": DeltaRs,
}  # fmt: skip


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Measure every row. A ratio is Colonnade's time over that of the better peer."""
    rows = pq.read_table(lineitem(folder, scale))
    with place(folder) as found:
        sides = {name: side(found, folder) for name, side in SIDES.items()}
        numbers = itertools.count()

        def write(side: Side) -> Callable[[], object]:
            return lambda: side.create(f"written_{next(numbers)}", rows)

        def scan(side: Side, columns: list[str]) -> Callable[[], object]:
            side.create(f"lineitem_{len(columns)}", rows)

            def once() -> None:
                read = side.read(f"lineitem_{len(columns)}", columns)
                if (read.num_rows, read.num_columns) != (rows.num_rows, len(columns)):
                    raise AssertionError(f"{side} has read {read.shape}")

            return once

        def append(side: Side) -> Callable[[], object]:
            table = side.create("small", ROWS)
            return lambda: side.append(table, ROWS)

        return [
            _figure(f"write lineitem SF{scale:g}", None, sides, write, runs),
            _figure("open, and scan 4 columns", TARGET, sides, lambda s: scan(s, COLUMNS), runs),
            _figure("open, and scan all columns", TARGET, sides,
                    lambda s: scan(s, rows.column_names), runs),
            _figure("append of 10 rows to an open table", TARGET, sides, append, APPENDS),
        ]  # fmt: skip


def _figure(
    measure: str,
    target: float | None,
    sides: dict[str, Side],
    begin: Callable[[Side], Callable[[], object]],
    runs: int,
) -> Figure:
    times = dict(zip(sides, in_turn([begin(side) for side in sides.values()], runs), strict=True))
    medians = {name: statistics.median(each) for name, each in times.items()}
    ours = medians.pop("Colonnade")
    rival = min(medians, key=medians.__getitem__)
    ratio = median_ratio(times["Colonnade"], times[rival])
    print(f"  {measure}: {ours:.4g} s, {ratio:.3f} of {rival}", flush=True)
    return Figure(measure, "s", ours, medians[rival], ratio, target, beside=medians)
