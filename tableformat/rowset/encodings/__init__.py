"""Encodings of a block: what its Arrow stream holds, and how that turns into the column again.

Each file is one encoding, the writer beside the reader:

    plain        the stream holds the column itself
    dictionary   the stream holds a dictionary array of it
    narrowed     integers as (value - base) in the fewest bytes
    lengths      strings and binary as lengths in the fewest bytes, and all bytes back to back
    constant     no stream: one value, the block's minimum, for all rows
    null         no stream: every row is NULL

Spec: docs/spec/rowset.md#encodings
"""
