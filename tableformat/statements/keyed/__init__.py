"""Statements that match incoming rows with existing rows by key.

    incoming.py     incoming rows, in memory or written by tasks, and the columns that they have
    existing.py     existing rows with their keys, and deletions of these, from state to state
    merge.py        incoming rows matched with existing rows, merged and written
    upsert.py       UPSERT on the primary key, for both kinds of incoming rows
    unique.py       which incoming rows are added, so that no two live rows share a key
    upsert_on.py    UPSERT on other columns: incoming rows replace whole rows
    delete_keys.py  DELETE by the primary key

A further statement that merges rows in another way is a module beside `upsert.py`:

    incoming = batch_rows(log, table, rows)                the rows, and the policy of the table
    incoming = replace(incoming, policy=...)               its own policy
    upsert = Upsert(log, table, incoming, job_id)          followed from state to state
    return keyed_statement("keep_older", table, upsert)    committed like any upsert

Spec: docs/spec/keys.md
"""
