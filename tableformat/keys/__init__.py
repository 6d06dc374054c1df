"""Rows by the values of their key columns.

    given_keys.py     keys as users give them
    key_set.py        keys of some rows, and which rows of a batch have one of them
    candidates.py     rows that may have one of the keys, by one column alone
    key_numbers.py    numbers for the keys of some rows
    parts.py          rows divided so that equal keys are together
    find.py           the live rows of a table that have one of some keys
    kept_keys.py      keys of RowSets in memory, in which further keys are found without a read
    expired.py        rows that have expired and are still stored
    repeated.py       keys that several live rows share
    point_read.py     the rows of few keys, with few reads
    policy.py         what happens to rows whose key a table has: the properties that say so
    static_parts.py   a table with static columns as two: its own columns, and its static values
    static_filters.py the partition keys that a condition on static columns allows
    tombstones.py     deleted keys that a table remembers, compared with rows
    sequence.py       the order in which the rows of one key count
    modes.py          how the values of the rows of one key become one value
    ranks.py          numbers that compare as the values of a column do
    merged_rows.py    rows that share a key, merged into one row for each key

Nothing here writes or commits.
"""
