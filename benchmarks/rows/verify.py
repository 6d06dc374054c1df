"""Verify every checksum of a gigabyte beside `cat` of the same files, both from memory."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow.parquet as pq

from benchmarks.measure import Figure, interleave, lineitem
from colonnade.tableformat.location import locate
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.settings import WriteSettings

COPIES = 8


def run(folder: Path, scale: float, runs: int) -> list[Figure]:
    """Verify a table of eight times lineitem at depth 3: log, indexes and checksums of blocks."""
    path = folder / f"verify-{scale:g}"
    if not locate(path).exists:
        source = pq.read_table(lineitem(folder, scale))
        table = ArrowDatabase.create(path).create_table("lineitem", source.schema)
        for _ in range(COPIES):
            table.append(source, settings=WriteSettings(sync=False))
    db = ArrowDatabase.open(path)
    files = [str(file) for file in sorted(path.rglob("*")) if file.is_file()]
    size = sum(Path(file).stat().st_size for file in files) / 1e9

    def verify() -> None:
        report = db.verify(3)
        assert report.findings == ()

    def cat() -> None:
        with Path("/dev/null").open("wb") as nowhere:
            subprocess.run(["cat", *files], stdout=nowhere, check=True)

    ours, theirs, ratio = interleave(verify, cat, runs)
    return [Figure(f"verify {size:.2f} GB at depth 3 beside cat", "s", ours, theirs, ratio, 1.5)]
