"""Encodings of a block: what its Arrow stream holds, and how the column is restored from it.

Each of these files holds one encoding, with its writer and its reader:

    plain        The stream holds the column itself.
    dictionary   The stream holds a dictionary array of the column.
    narrowed     The stream holds integers as (value - base) in the fewest bytes.
    lengths      The stream holds all bytes of strings or binary, and their lengths.
    constant     There is no stream: the block's minimum is the value of all rows.
    null         There is no stream: every row is NULL.

Two modules serve them: `encoded` is the result of every writer, and `integers` says which types are
treated as integers.

Spec: docs/spec/rowset.md#encodings
"""
