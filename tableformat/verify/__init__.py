"""Find damage, and say exactly what it affects. Changes nothing.

    findings.py      what was found: values, for people and for programs
    log_check.py     depth 1: every epoch since the floor, anchors, checkpoints, and missing files
    rowset_check.py  depths 2 to 4 of one RowSet: vector, footer, columns, order
    column_check.py  one column: indexes, checksums of blocks, values
    rowset_findings.py  what was found so far in one RowSet
    block_check.py   the values of one block against its index
    order_check.py  partition_check.py   rows against the sort key, and against the partition
    key_check.py     rows of a table that share its primary key
    replaced_rows_check.py  which rows the rows of an epoch replace
    job.py           RowSets to check, as a value for other machines
    run.py           a whole database, on threads

Spec: docs/verify.md
"""
