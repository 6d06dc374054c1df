"""Encodings of a block: what its Arrow stream holds, and how the column is restored from it.

Each of these files holds one encoding, with its writer and its reader:

    plain        The stream holds the column itself.
    dictionary   The stream holds a dictionary array of the column.
    narrowed     The stream holds integers as (value - base) in the fewest bytes.
    lengths      The stream holds all bytes of strings or binary, and their lengths.
    constant     There is no stream: the block's minimum is the value of all rows.
    null         There is no stream: every row is NULL.

These modules serve them:

    registry     All of them, in the order in which a writer tries them.
    encoding     What every encoding is given and returns.
    rows         Rows that a writer encodes.
    integers     Which types are treated as integers.

A new encoding is a file here and a row of `registry`, from which its row of the page is made. In
the jar, it is a class in `colonnade.encodings` and a row of `Encodings` there.

Spec: docs/spec/rowset.md#encodings
"""
