"""Rows written by tasks, and what a table demands of them or gives to them.

    job.py  settings.py    a planned write, as tasks receive it
    pipeline.py            the steps of rows in their order, and the writer behind them
    run.py                 one task's rows, and what it reports to its driver
    constraints.py         conditions that each row meets
    generated.py           values that follow from other columns of the row
    identity.py            numbers that the table gives to rows
    expiry.py              when the rows of one write expire
    replaced_columns.py    new values of some columns of a RowSet
    column_changes.py      columns that a write brings, in the epoch of its rows
    kept_ids.py            ids of columns where one table replaces another

Spec: docs/spec/types.md#what-may-be-written
"""
