"""Engines that read scans: DuckDB, Polars, and whatever else reads a dataset of pyarrow.

    engine_scan.py      what engines need of a scan
    filtered_scan.py    the rows of a scan that meet an expression of Arrow
    dataset.py          a scan as a `pyarrow.dataset.Dataset`
    polars_frame.py     a scan as a frame of Polars
    duckdb_query.py     tables in DuckDB, and queries over those of a database
    libraries.py        libraries that users need not have

These modules load libraries, which takes longer than to read a small table. So other modules load
them when they are first used.

Guide: docs/duckdb-polars.md
"""
