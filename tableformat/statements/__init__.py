"""Statements that change rows: each is evaluated on one state of a table and says what to commit.

    statement.py   what all of them come to: rows that go, RowSets that come, what was read
    delete.py  update.py  upsert.py  replace.py
    rerun.py       evaluate, commit, and evaluate again after a conflict

They write data, never a commit; so a table commits one of them, and a transaction many.
"""
