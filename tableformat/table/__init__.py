"""The objects that users hold: tables, databases and transactions, and their operations.

table.py         a table: what each of its methods promises
open_table.py    which table was opened, and the newest state that was read: what all else takes
scans.py  scan_source.py  rows_by_key.py   its reads
writes.py        its statements: how each of them becomes an epoch
scan_polars.py   a table at a path as a lazy frame of Polars
computed_columns.py   columns computed from others: added, or given other values
database.py      a database: its tables by name, its epochs, its upkeep
creation.py      a table created of columns, or of rows that tell the columns
changes.py  change_plan.py   what has changed in a range of epochs, and what is asked of it
consumers.py     how far programs have read the changes of tables
design/          what a table is, as users state it and as the log stores it
alteration/  evolution/   its design changed: by a user, and by rows with other columns
epochs/          earlier states: history, time travel, tags and pins, restore, erase
transaction/     several statements that become one epoch
report/          what the log tells of a database and its tables, as pages and in notebooks
"""
