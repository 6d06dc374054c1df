"""Putting right what can be, and parting with what cannot, only when told to. Deletes nothing.

    caches.py   checkpoints and hint, made anew from the log
    reading.py  what can still be read of a damaged RowSet
    rescue.py   the file that the readable values of lost rows go to
    rowsets.py  RowSets replaced by what is left of them, in one epoch

Guide: docs/verify.md
"""
