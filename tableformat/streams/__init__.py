"""What a stream reads: the rows of a table, and then its changes, in pieces that fit a trigger.

    offsets.py    how far a stream has read, as JSON
    pieces.py     the parts of a table and of an epoch that a trigger takes whole
    admission.py  how many pieces fit the limits of a trigger
    source.py     the pieces between two offsets, and where a trigger ends
    start.py      where a stream begins
    backlog.py    how far a stream is behind
    leases.py     keeps what a stream has not read from vacuum

Planning reads the log and vectors, and no values. Spec of the offset: docs/streams.md#offsets
"""
