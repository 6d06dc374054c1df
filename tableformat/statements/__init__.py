"""Statements that change rows. Each is evaluated on one state of a table and says what to commit.

    statement.py   the value that each statement becomes: deleted rows, new RowSets, rows read
    append.py      rows that a statement adds, written beside their static values
    delete.py  update.py  overwrite.py
    merge.py  merge_clauses.py    a source merged by clauses
    ranges.py      ranges of rows, deleted without being read
    expire.py      rows that have expired, deleted after their grace
    columns/       columns of stored rows that get other values
    keyed/         incoming rows matched with existing rows by key
    static_split.py  static_values.py   static values of rows, merged in the same epoch
    key_guard.py   keys that a statement inserts because no row had them
    identity_guard.py  kept_identities.py   values of identity columns
    evaluators.py  the statements as users give them, for a state that is not yet known
    change.py      a statement becomes a change, which keeps what the table promises
    task_reports.py  what tasks of another engine did
    commit.py      commits what the tasks of a job wrote

Statements write data but do not commit: a table commits one of them, a transaction commits many.
"""
