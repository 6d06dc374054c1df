"""What a statement writes: plans before the rows, commits after them.

writes.py  rows.py               statements that add rows, and statements that change them
deletes.py  expiry.py            a DELETE that the log decides; rows that expire some time later
column_updates.py  fills.py      columns that are replaced, and columns that Spark computes
identity.py  statics.py          values of identity columns for tasks; static values of tasks
base.py  merging.py              the state that is written to; rows that merge by their keys
commits.py  history_text.py      the commit of what tasks report; what a statement said
stream_batches.py                what a stream may write, batch by batch
"""
