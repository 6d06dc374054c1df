"""The protocol between the jar and the planner: a frozen model for each request and each reply.

The jar has a record for each of them in its package `colonnade.planner.messages`, with components
of the same names and types; `tests/spark_ext/planner/test_messages.py` compares both sides. The
operation of a request is named as its class is: `PlanWrite` is `plan_write`.

base.py                             what a message is; a function as an operation
clauses.py  changes.py              parts of several messages; the changes of an ALTER TABLE
views.py  envelope.py               what names a view; what stands around each request
queries.py  feed.py  streams.py     what queries and streams read of a table and its changes
writes.py  rewrites.py              what a statement writes
catalog.py  procedures.py           databases and tables, CALL
"""
