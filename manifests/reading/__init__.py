"""States of a database as its log tells them: the newest one, or one of an earlier epoch.

    reader.py          any state of a database, and its epochs
    live_rowsets.py    the live RowSets of a table at a state
    following.py       from a stored state to a later one
    early_segments.py  segments of a checkpoint, read before they are asked for
    begun_head.py      the newest state before the look that proves it
    last_look.py       how long the last look at the log may be trusted

Spec: docs/spec/epoch-log.md#head
"""
