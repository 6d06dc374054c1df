"""The table format: column types, blocks, RowSets, predicates, scans, and tables as users see them.

This package imports `manifests` and Arrow, never Spark. Each folder imports only folders above it
in this list, which `tests/test_layers.py` checks:

    where tables are, and where jobs run      location jobs
    what notebooks show                       html
    how far long work is, as a bar shows it   progress bars
    Arrow columns as table columns            types/
    conditions on rows                        predicate/
    engines that read scans                   engines/
    one RowSet: blocks, indexes, footer       rowset/
    rows divided by partition                 partition/
    reading the rows of a table               scan/
    writing rows with tasks                   write/
    rows by the values of their keys          keys/
    what has changed since an epoch           feed/
    statements that change rows               statements/
    rewriting RowSets                         compaction/
    checking RowSets                          verify/
    repairing RowSets                         repair/
    tables and databases for users            table/
    what streams read                         streams/
"""
