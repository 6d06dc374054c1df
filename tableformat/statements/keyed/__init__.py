"""Statements on tables with a primary key.

    unique.py         which rows of a statement are added, so that no two live rows share a key
    new_keys.py       the keys of the rows that a statement adds, part by part
    written_keys.py   those keys beside one state of the table after another
    merge.py          UPSERT on the primary key: each row meets the row of the table with its key
    written_merge.py  the same for rows that tasks have written
    delete_keys.py    DELETE by the primary key
    late.py           rows that are older than a deletion of their key
    given.py          the columns that rows were given values in
    batch.py          rows that have some of the columns, in the types of the table
    meeting.py        these rows beside those of the table that they meet, and what they become
    merging.py        merged rows, written and withdrawn
    places.py         where the rows of the table are, from one state to later ones

No two live rows of such a table share a key.
Spec: docs/spec/keys.md
"""
