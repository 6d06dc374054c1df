"""Filters by DuckDB and Polars on lineitem, and TPC-H by DuckDB, beside other libraries.

DuckDB and Polars read Parquet of zstd by themselves. delta-rs and Lance are measured with
`PYTHONPATH=$(python tests/setup/lakes.py)`. All tables hold rows in the order of `l_orderkey`.
"""

from __future__ import annotations

import importlib
import json
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

import colonnade
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio, orders

KEYS = ("l_orderkey", 60_000)
"""The least keys, of which 1 % of the rows have one. They lie together."""
DAYS = ("l_shipdate", "1994-01-01", "1994-01-25")
"""The dates of 1 % of the rows, which lie everywhere."""
SOME = ("l_orderkey", "l_quantity", "l_extendedprice", "l_shipdate")
TARGET, MEMORY_MIB = 1.0, 300.0
TPCH_TARGET = 1.2
TPCH = {
    "TPC-H q1": "SELECT l_returnflag, l_linestatus, sum(l_quantity), sum(l_extendedprice),"
    " sum(l_extendedprice * (1 - l_discount)), avg(l_quantity), count(*) FROM rows"
    " WHERE l_shipdate <= DATE '1998-09-02' GROUP BY ALL ORDER BY ALL",
    "TPC-H q6": "SELECT sum(l_extendedprice * l_discount) FROM rows WHERE l_shipdate >="
    " DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01' AND l_discount BETWEEN 0.05 AND 0.07"
    " AND l_quantity < 24",
    "TPC-H q12": "SELECT l_shipmode, count(*) FILTER (o_orderpriority IN ('1-URGENT', '2-HIGH'))"
    " FROM orders JOIN rows ON o_orderkey = l_orderkey WHERE l_shipmode IN ('MAIL', 'SHIP')"
    " AND l_commitdate < l_receiptdate AND l_shipdate < l_commitdate AND l_receiptdate >="
    " DATE '1994-01-01' AND l_receiptdate < DATE '1995-01-01' GROUP BY ALL ORDER BY ALL",
}
"""Queries over lineitem, as `rows`, and orders."""

Query = Callable[[Any], int]
"""Reads the rows of a source, and returns their number."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Time each query on every source in turn, and compare the numbers of rows."""
    place = folder / f"engine_filters-{scale:g}"
    _make(place, lineitem(folder, scale), orders(folder, scale))
    figures = []
    for what, (query, sources) in _works(place, scale).items():
        assert len({query(source) for source in sources.values()}) == 1, what
        times = dict(
            zip(
                sources,
                in_turn([partial(query, each) for each in sources.values()], runs),
                strict=True,
            )
        )
        ours = times.pop("Colonnade")
        beside = {name: statistics.median(each) for name, each in times.items()}
        # Filters are compared with other tables, and all else with plain files.
        rivals = {name: beside[name] for name in beside if (name == "Parquet") != ("1 %" in what)}
        best = min(rivals or beside, key=beside.__getitem__)
        ratio, target = median_ratio(ours, times[best]), TPCH_TARGET if what in TPCH else TARGET
        mine = statistics.median(ours)
        figures.append(Figure(what, "s", mine, beside[best], ratio, target, beside=beside))
    return figures + [
        Figure(f"{what}: peak memory", "MiB", _peak(folder, scale, what), target=MEMORY_MIB)
        for what in _works(place, scale)
        if "1 %" in what
    ]


def _make(place: Path, parquet: Path, others: Path) -> None:
    if place.exists():
        return
    rows = _plain(parquet)
    try:
        place.mkdir(parents=True)
        colonnade.create(place / "colonnade", rows)
        colonnade.create(place / "orders", of_orders := _plain(others))
        for name, each in ("rows", rows), ("orders", of_orders):
            path = place / f"{name}.parquet"
            pq.write_table(each, path, compression="zstd", row_group_size=2**17)
        if find_spec("deltalake") is not None:
            importlib.import_module("deltalake").write_deltalake(place / "delta", rows)
        if find_spec("lance") is not None:
            importlib.import_module("lance").write_dataset(rows, place / "lance")
    except BaseException:
        shutil.rmtree(place)
        raise


def _plain(parquet: Path) -> pa.Table:
    rows = pq.read_table(parquet)
    types = (pa.string() if each == pa.string_view() else each for each in rows.schema.types)
    return rows.cast(pa.schema(list(zip(rows.schema.names, types, strict=True))))


def _works(place: Path, scale: float) -> dict[str, tuple[Query, dict[str, Any]]]:
    """Return the queries by name, each with its sources by name; Colonnade is the first."""
    table, parquet = colonnade.open(place / "colonnade"), str(place / "rows.parquet")
    of_duckdb: dict[str, Any] = {"Colonnade": table.dataset, "Parquet": lambda: parquet}
    of_polars: dict[str, Any] = {
        "Colonnade": lambda: table.to_polars(lazy=True),
        "Parquet": lambda: polars.scan_parquet(parquet),
    }
    if (place / "delta").exists():
        deltalake, path = importlib.import_module("deltalake"), str(place / "delta")
        of_duckdb["delta-rs"] = lambda: deltalake.DeltaTable(path).to_pyarrow_dataset()
        of_polars["delta-rs"] = lambda: polars.scan_delta(path)
    if (place / "lance").exists():
        lance = importlib.import_module("lance")
        of_duckdb["Lance"] = lambda: lance.dataset(place / "lance")
        of_polars["Lance"] = lambda: polars.scan_pyarrow_dataset(lance.dataset(place / "lance"))
    other, files = colonnade.open(place / "orders"), place / "orders.parquet"
    of_tpch: dict[str, Any] = {
        "Colonnade": lambda: {"rows": table.dataset(), "orders": other.dataset()},
        "Parquet": lambda: {"rows": parquet, "orders": str(files)},
    }
    least = int(KEYS[1] * scale)
    by_key, by_day = (
        f"{KEYS[0]} < {least}",
        f"{DAYS[0]} BETWEEN DATE '{DAYS[1]}' AND DATE '{DAYS[2]}'",
    )
    key = polars.col(KEYS[0]) < least
    first, last = (polars.lit(each).str.to_date() for each in DAYS[1:])
    day = polars.col(DAYS[0]).is_between(first, last)
    some = ", ".join(SOME)
    return {
        "DuckDB, 1 % by key, all columns": (partial(_duckdb, "*", by_key), of_duckdb),
        "DuckDB, 1 % by day, 4 columns": (partial(_duckdb, some, by_day), of_duckdb),
        "DuckDB, all rows": (partial(_duckdb, "*", "TRUE"), of_duckdb),
        "Polars, 1 % by key, all columns": (partial(_polars, [], key), of_polars),
        "Polars, 1 % by day, 4 columns": (partial(_polars, SOME, day), of_polars),
        **{what: (partial(_query, text), of_tpch) for what, text in TPCH.items()},
    }


def _duckdb(columns: str, where: str, source: Callable[[], Any]) -> int:
    return _query(f"SELECT {columns} FROM rows WHERE {where}", lambda: {"rows": source()})


def _query(text: str, sources: Callable[[], dict[str, Any]]) -> int:
    with duckdb.connect() as connection:
        for name, found in sources().items():
            if isinstance(found, str):
                connection.execute(f"CREATE VIEW {name} AS FROM '{found}'")
            else:
                connection.register(name, found)
        reader = pa.RecordBatchReader.from_stream(connection.sql(text))
        return sum(batch.num_rows for batch in reader)


def _polars(columns: Sequence[str], where: polars.Expr, source: Callable[[], Any]) -> int:
    rows = source().filter(where)
    return int((rows.select(columns) if columns else rows).collect().height)


def _peak(folder: Path, scale: float, what: str) -> float:
    """Return the peak memory in MiB of a process that runs one query on Colonnade's table."""
    program = "from benchmarks.rows.engine_filters import alone; alone()"
    given = json.dumps([str(folder), scale, what])
    ran = subprocess.run(
        [sys.executable, "-c", program, given], capture_output=True, text=True, check=True
    )
    return float(ran.stdout.splitlines()[-1])  # after the bars that DuckDB shows


def alone() -> None:
    """Run one query, and print the peak memory of this process in MiB."""
    folder, scale, what = json.loads(sys.argv[1])
    query, sources = _works(Path(folder) / f"engine_filters-{scale:g}", scale)[what]
    query(sources["Colonnade"])
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(int(peak) / 1024)
