"""Rows by the values of their key columns.

    key_rows.py       keys as users give them, as rows
    key_set.py        the keys of some rows: their numbers, and which rows of a batch have one
    candidates.py     rows that may have one of the keys, by one column alone
    find.py           the live rows of a table that have one of some keys
    kept_keys.py      keys of RowSets in memory, in which further keys are found without a read
    point_read.py     the rows of few keys, with few reads
    parts.py          rows divided by hashes so that equal keys are together
    key_parts.py      the keys of all rows of some RowSets, in parts that fit into memory
    expired_rows.py   rows that have expired and are still stored
    policy.py         what happens to rows whose key a table has: the properties that say so
    merged_rows.py    rows that share a key, merged into one row for each key
    modes.py          how the values of the rows of one key become one value
    ranks.py          numbers that compare as the values of a column do
    tombstones.py     deleted keys that a table remembers, compared with rows
    static_parts.py   a table with static columns as two: its own columns, and its static values
    static_filters.py the partition keys that a condition on static columns allows

Nothing here writes or commits.
"""
