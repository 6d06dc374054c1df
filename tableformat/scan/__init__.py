"""Rows of a table, read: the plan of a scan, its run, and the rows that a predicate selects.

    plan.py  narrow.py    what a scan reads, by the log alone; then by the indexes of few RowSets
    task_statics.py       the static values that one task needs
    other_columns.py      the rows of one epoch with the columns of another
    open_rowsets.py       the RowSets of a plan, opened before they are used
    live_rows.py          the rows of one RowSet that a plan returns
    run.py                the rows of a plan, as batches
    arrow_rows.py  arrow_scan.py    rows, and those of a scan, as Arrow users see them
    reads.py  user_rows.py   a table as rows that are read, and rows that a user gives a statement
    selection.py          the row numbers that a condition selects
    order.py  ordered.py  the order of the rows of a plan, and its rows in that order
    merge.py  sorting.py  sorted rows of many RowSets in one order; rows sorted on local disk

Which rows are deleted is decided in `rowset/deleted_rows.py`, and what a RowSet has in newer
columns in `rowset/adapt.py`.
"""
