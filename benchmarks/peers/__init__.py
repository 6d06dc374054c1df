"""Colonnade in Spark, beside Delta Lake and Iceberg.

peers.py  engines.py  changes.py  feed.py  first_merge.py  range_deletes.py  streams.py
plot.py
"""
