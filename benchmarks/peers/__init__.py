"""Colonnade in Spark, beside Delta Lake and Iceberg.

peers.py  engines.py  changes.py  first_merge.py  range_deletes.py  plot.py
"""
