"""The table format: column types, blocks, RowSets, predicates, scans, and tables as users see them.

This package imports `manifests` and Arrow, never Spark. Each folder imports only folders above it
in this list, which `tests/test_layers.py` checks:

    where a table is, and where jobs run       location jobs
    columns of Arrow as columns of a table    types/
    which rows                                predicate/
    one RowSet: blocks, indexes, footer       rowset/
    rows divided by partition                 partition/
    rows of a table, read                     scan/
    rows of a table, written by tasks         write/
    statements that change rows               statements/
    RowSets rewritten                         compaction/
    RowSets checked                           verify/
    RowSets mended                            repair/
    what users hold in their hands            table/
"""
