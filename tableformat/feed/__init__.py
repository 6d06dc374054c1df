"""The change feed: which rows of a table were inserted, deleted and updated, and their values.

    difference.py   which rows differ between two states
    shown_types.py  rows of a state with the types that a feed shows
    same_key.py     which deleted and inserted rows have the same primary key
    images.py       the rows of a difference, before and after, as batches
    changes.py      the rows of a feed, with its own columns
    limits.py       which epochs and times a condition allows
    tasks.py        the rows of a difference as scans, for tasks

The changes of an epoch are one difference, and so are the net changes of a whole span. Rows are
read through views of the two states, so a row that a scan does not show is not in the feed either.
Spec: docs/spec/feed.md
"""
