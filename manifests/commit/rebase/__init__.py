"""Carrying a change over to a newer head, where that is provably right.

    targets.py        RowSets as a change finds them, followed through the epochs since its base
    origin.py         which row of a compaction came from where
    compaction.py     rows carried through a compaction, of others or of one's own
    reads.py          what a statement has read, and keys that it inserts, against what came since
    vector_writer.py  deletion vectors of a change, stored once for all slots that it tries
    carried.py        a change on its way to its slot: the only part that the log calls

Nothing here writes data again: vectors are united and moved, everything else is as it was written.
Spec: docs/spec/conflicts.md
"""
