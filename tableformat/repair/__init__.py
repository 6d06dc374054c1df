"""Repair what can be repaired, and drop what cannot be read, only when told to. Deletes no file.

    caches.py   checkpoints and hint, rebuilt from the log
    reading.py  what can still be read of a damaged RowSet
    rescue.py   the file that receives the readable values of lost rows
    rowsets.py  RowSets replaced by their readable rows, in one epoch

Guide: docs/verify.md
"""
