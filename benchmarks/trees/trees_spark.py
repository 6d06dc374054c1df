"""This checkout of Colonnade beside another one, each in a Spark session with its own jar."""

from __future__ import annotations

from pathlib import Path

from benchmarks.measure import Figure
from benchmarks.trees.trees import compare

MEASURES = {
    "write": "write lineitem SF{scale:g}",
    "read": "read all columns",
    "scan": "sum of 4 columns",
    "filter": "sum of 2 % of the rows, by a column without order",
    "append": "append 10 rows",
    "delete": "DELETE of 1 % scattered rows",
    "update": "UPDATE of 1 % scattered rows",
    "merge": "MERGE of 25,000 rows into 1,000,000, half of them new, in order",
    "merge_scattered": "MERGE of 25,000 rows into 1,000,000, half of them new, by random keys",
    "compact": "OPTIMIZE FULL of lineitem with deleted rows",
}


def run(folder: Path, scale: float, runs: int, before: Path | None = None) -> list[Figure]:
    """Measure both checkouts in turn; see `trees.compare`. Each needs its jar, built already."""
    return compare("trees_spark_work.py", MEASURES, folder, scale, runs, before)
