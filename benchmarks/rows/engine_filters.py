"""Filters by DuckDB and Polars on lineitem, beside Parquet, delta-rs and Lance.

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
from benchmarks.measure import Figure, in_turn, lineitem, median_ratio

KEYS = ("l_orderkey", 60_000)
"""The least keys, of which 1 % of the rows have one. They lie together."""
DAYS = ("l_shipdate", "1994-01-01", "1994-01-25")
"""The dates of 1 % of the rows, which lie everywhere."""
SOME = ("l_orderkey", "l_quantity", "l_extendedprice", "l_shipdate")
TARGET, MEMORY_MIB = 1.0, 300.0

Query = Callable[[Any], int]
"""Reads the rows of a source, and returns their number."""


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Time each query on every source in turn, and compare the numbers of rows."""
    place = folder / f"engine_filters-{scale:g}"
    _make(place, lineitem(folder, scale))
    figures = []
    for what, (query, sources) in _works(place, scale).items():
        assert len({query(source) for source in sources.values()}) == 1, what
        works = [partial(query, source) for source in sources.values()]
        ours, *others = in_turn(works, runs)
        best = min(others, key=statistics.median)
        medians = map(statistics.median, others)
        beside = dict(zip([*sources][1:], medians, strict=True))
        ratio = median_ratio(ours, best)
        mine = statistics.median(ours)
        figures.append(Figure(what, "s", mine, min(beside.values()), ratio, TARGET, beside=beside))
    return figures + [
        Figure(f"{what}: peak memory", "MiB", _peak(folder, scale, what), target=MEMORY_MIB)
        for what in _works(place, scale)
        if "1 %" in what
    ]


def _make(place: Path, parquet: Path) -> None:
    if place.exists():
        return
    rows = pq.read_table(parquet)
    plain = pa.schema(
        [
            (each.name, pa.string() if each.type == pa.string_view() else each.type)
            for each in rows.schema
        ]
    )
    rows = rows.cast(plain)
    try:
        place.mkdir(parents=True)
        pq.write_table(rows, place / "rows.parquet", compression="zstd", row_group_size=2**17)
        colonnade.create(place / "colonnade", rows)
        if find_spec("deltalake") is not None:
            importlib.import_module("deltalake").write_deltalake(place / "delta", rows)
        if find_spec("lance") is not None:
            importlib.import_module("lance").write_dataset(rows, place / "lance")
    except BaseException:
        shutil.rmtree(place)
        raise


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
    }


def _duckdb(columns: str, where: str, source: Callable[[], Any]) -> int:
    found = source()
    with duckdb.connect() as connection:
        if isinstance(found, str):
            connection.execute(f"CREATE VIEW rows AS FROM '{found}'")
        else:
            connection.register("rows", found)
        reader = connection.sql(f"SELECT {columns} FROM rows WHERE {where}")
        return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(reader))


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
    return float(ran.stdout)


def alone() -> None:
    """Run one query, and print the peak memory of this process in MiB."""
    folder, scale, what = json.loads(sys.argv[1])
    query, sources = _works(Path(folder) / f"engine_filters-{scale:g}", scale)[what]
    query(sources["Colonnade"])
    peak = Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0]
    print(int(peak) / 1024)
