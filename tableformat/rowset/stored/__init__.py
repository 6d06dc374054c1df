"""Stored rows out: where the bytes of a RowSet are, and the stretches of rows that a reader needs.

source.py  column_segments.py    where the bytes are
reader.py                        the stored rows of a RowSet
filter_pruning.py                stretches that Bloom filters rule out
masks.py                         values that a view shows as NULL
"""
