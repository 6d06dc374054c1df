"""Statements that change rows: each is evaluated on one state of a table and says what to commit.

    statement.py   what all of them come to: rows that go, RowSets that come, what was read
    append.py  delete.py  update.py  upsert.py  replace.py  replace_partitions.py
    key_guard.py   keys that a statement inserts because no row had them
    methods.py     the statements as methods, of a table and of a table in a transaction
    rerun.py       evaluate, commit, and evaluate again after a conflict
    row_numbers.py rows that a task wrote, however many, by number
    reported.py  update_job.py  written.py    what tasks of another engine did, as statements

They write data, never a commit; so a table commits one of them, and a transaction many.
"""
