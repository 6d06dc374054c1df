"""The planner: a Python process beside Spark's driver that plans and commits for the Java half.

`python -m colonnade.spark_ext.planner` answers requests until its input ends. Operations are
functions from arguments to a result, which modules list in `OPS`.

    server.py  operations.py  __main__.py     requests and replies as lines, operations by name
    snapshots.py  storage.py  outdated.py  unsent.py    states, options, and errors that are true
    catalog.py  alterations.py  defaults.py  partitions.py  removal.py    databases and tables
    reads.py  filters.py  grouping.py  top_rows.py  aggregates.py     what a query reads
    writes.py  rows.py  column_updates.py  fills.py  commits.py    what a statement writes
    constraints.py  generated.py              constraints and generated columns that Spark knows
    evolution.py                              columns that writes add
    identity.py                               values of identity columns for tasks
    transactions.py  transaction_calls.py     transactions of sessions
    procedures.py  care.py  compaction.py  epochs.py  metadata.py     CALL, and tables about tables
"""
