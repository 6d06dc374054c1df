"""Columns of stored rows that get other values: whole columns are written, and their rows stay.

assignments.py      what an UPDATE sets, bound to a schema and evaluated on rows
assigned_value.py   computed values as values of the column that they are assigned to
constant_value.py   a value that a user states, as an exact value of a column
new_values.py       columns of a RowSet replaced by computed values
fill.py             a column that gets a value in every row, beside running writers
computed.py         a fill whose values Arrow computes from other columns
fill_job.py         a fill whose values another engine computes
written_columns.py  replaced columns that the tasks of another engine report
"""
