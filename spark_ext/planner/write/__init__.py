"""What a statement writes: plans before the rows, commits after them.

writes.py  rows.py               statements that add rows, and statements that change them
column_updates.py  fills.py      columns that are replaced, and columns that Spark computes
identity.py                      values of identity columns for tasks
base.py  merging.py              the state that is written to; rows that merge by their keys
commits.py  told.py              the commit of what tasks report; what a statement said
"""
