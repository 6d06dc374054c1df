"""Colonnade in Spark, beside Parquet.

spark.py  wide.py  columns.py  in_order.py  range_scans.py  profiling.py
"""
