"""Every figure that Colonnade publishes: `python -m benchmarks --help`.

__main__.py    the command
measure.py     ways of doing the same work, timed in turn
rows/          rows and columns of a table, and their compaction
log/           the log and its commits, and what grows with years of use, without Spark
keys/          rows with keys: upserts, deleted keys and identity columns
spark/         Colonnade in Spark, beside Parquet
peers/         Colonnade in Spark, beside Delta Lake and Iceberg
libraries/     five libraries without Spark
stores/        stores behind a network
trees/         two checkouts of Colonnade
"""
