"""Choose the RowSets to compact from the log alone. Pure: nothing here reads or writes.

    policy.py   the settings in a table's properties
    purge.py    when rows that have expired are worth a rewrite
    facts.py    the picker's view of RowSets: arrays of rows, bytes and key ranges
    picker.py   makes groups from facts and a policy
    plan.py     the plan: a value that people read as a table and programs as JSON

Guide: docs/compaction.md
"""
