"""Statements that match incoming rows with existing rows by key.

    incoming.py     incoming rows, in memory or written by tasks, and the columns that they have
    existing.py     existing rows with their keys, and deletions of these, from state to state
    merge.py        incoming rows matched with existing rows, merged and written
    upsert.py       UPSERT on the primary key, for both kinds of incoming rows
    unique.py       which incoming rows are added, so that no two live rows share a key
    upsert_on.py    UPSERT on other columns: incoming rows replace whole rows
    delete_keys.py  DELETE by the primary key

The next statement of this kind is a module beside `upsert.py`. It takes `IncomingRows`, follows
`ExistingRows`, and says what becomes of the rows that match.
Spec: docs/spec/keys.md
"""
