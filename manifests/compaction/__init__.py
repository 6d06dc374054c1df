"""What to compact, decided from the log alone. Pure: nothing here reads or writes.

    policy.py   what a table's properties ask for
    facts.py    RowSets as the picker sees them: arrays of rows, bytes and key ranges
    picker.py   facts and policy in, groups out
    plan.py     the plan: a value that people read as a table and programs as JSON

Guide: docs/compaction.md
"""
