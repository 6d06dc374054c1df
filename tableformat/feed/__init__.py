"""The change feed: which rows of a table were inserted, deleted and updated, and their values.

    difference.py   which rows differ between two states
    shown.py        rows of a state with the types that a feed shows
    same_key.py     which deleted and inserted rows have the same primary key
    images.py       the rows of a difference, before and after, as batches
    changes.py      the rows of a feed, with its own columns

Each epoch is one difference. Net changes are one difference of the whole span. The rows are read
through views of the two states, so all that hides rows from a scan hides them here, too.
Spec: docs/spec/feed.md
"""
