"""Colonnade without Spark beside delta-rs, PyIceberg, Lance and DuckDB with a file of its own.

libraries.py  sides.py  memory.py
"""
