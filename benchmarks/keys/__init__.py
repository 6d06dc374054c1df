"""Rows with keys: upserts, deleted keys and identity columns.

keys.py  keys_rowsets.py  keys_sustained.py  keys_spark.py  keys_python.py
tombstones.py  identities.py
"""
