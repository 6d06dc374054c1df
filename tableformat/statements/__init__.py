"""Statements that change rows. Each is evaluated on one state of a table and says what to commit.

    statement.py   the value that each statement becomes: deleted rows, new RowSets, rows read
    added_rows.py  rows that a statement adds, written with the static values that they bring
    append.py  delete.py  update.py  overwrite.py  overwrite_partitions.py
    ranges.py      ranges of rows, deleted without being read
    expire.py      rows that have expired, deleted after their grace
    assignments.py what an UPDATE sets, bound to a schema and evaluated on rows
    new_values.py  columns of a RowSet replaced by computed values
    constant_value.py  a value that a user states, as an exact value of a column
    keyed/         incoming rows matched with existing rows by key
    division.py  static_values.py   static values that rows bring, merged in the same epoch
    key_guard.py   keys that a statement inserts because no row had them
    identity_guard.py  kept_identities.py   values of identity columns
    fill.py  fill_job.py  computed.py   a column computed for all rows, beside running writers
    shown.py       what the history shows of a statement, and how much of it
    methods.py     the statements as methods, of a table and of a table in a transaction
    rerun.py       evaluate, commit, and evaluate again after a conflict
    finish.py      the last step of each statement: what the table promises, and its change
    reported.py  update_job.py  written_columns.py    what tasks of another engine did
    commit.py      commits what the tasks of a job wrote

Statements write data but do not commit: a table commits one of them, a transaction commits many.
"""
