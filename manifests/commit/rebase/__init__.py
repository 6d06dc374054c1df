"""Carry a change over to a newer head, where that is provably correct.

    targets.py        RowSets that a change affects, followed through the epochs since its base
    origin.py         where rows come from, stored
    row_map.py        rows that a compaction has moved
    compaction.py     rows carried through a compaction, concurrent or its own
    reads.py          rows that a statement has read, and keys that it inserts, against later epochs
    tombstones.py     the same, against range tombstones of later epochs
    replaced_rows.py  which rows the rows of a change replace
    vector_writer.py  deletion vectors of a change, stored once for all slots that it tries
    change_at_base.py a change right after its base: the rows that it deletes or changes
    carried.py        a change on its way to its slot, which the log carries from epoch to epoch
    keyed.py          rows of a table with a primary key, compared with the state before the slot
    fill.py           values for every RowSet that a table has before the slot

Rebasing writes no data again. It combines and moves vectors, and keeps all other objects.
Spec: docs/spec/conflicts.md
"""
