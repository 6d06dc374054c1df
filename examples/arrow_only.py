"""Use Colonnade without Spark: create, append, scan, read an earlier epoch, query with DuckDB.

The example needs no Java. Run it with `.venv/bin/python examples/arrow_only.py`.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import duckdb
import polars

import colonnade
from colonnade import col
from sources import read_flight_table


def main() -> None:
    """Write the flights of 2013 in two epochs, and read them in five ways."""
    with tempfile.TemporaryDirectory() as folder:
        flights = read_flight_table("flights")
        month = flights["month"].to_numpy()
        table = colonnade.create(Path(folder) / "flights", flights.schema, sort_key=["carrier"])
        first = table.append(flights.filter(month <= 6))
        second = table.append(flights.filter(month > 6))

        print(f"\nEpochs {first} and {second} hold this many flights:")
        for epoch in (first, second):
            print(epoch, table.scan(["month"], epoch=epoch).to_arrow().num_rows)

        print("\nA scan, pruned by its predicate, as pandas:")
        columns = ["carrier", "origin", "dest", "dep_delay"]
        late = table.scan(columns, where=(col("carrier") == "HA") & (col("dep_delay") > 100))
        print(late.to_pandas())

        # DuckDB and Polars read a scan through the Arrow C stream interface, without a copy.
        delays = table.scan(["carrier", "dep_delay"], where="dep_delay IS NOT NULL")
        print("\nDuckDB:")
        question = "SELECT carrier, avg(dep_delay) AS mean FROM delays GROUP BY ALL ORDER BY mean"
        print(duckdb.sql(question).limit(3))
        print("Polars:")
        print(polars.DataFrame(delays).group_by("carrier").len().sort("len").tail(3))

        print("\nHistory, newest first:")
        for entry in table.history():
            print(entry.epoch, entry.operation, f"{entry.rows_added:,} rows")


if __name__ == "__main__":
    main()
