"""The objects that users hold: tables, databases and transactions, and their operations.

opened.py        which table was opened, the newest state that was read, its history
maintenance.py   compaction, vacuum, checks, repair, new RowSet ids
computed_columns.py   columns computed from others: added, or given other values
creation.py      a table created of columns, or of rows that tell the columns
altering.py      changes of a table's design, its name and its end
scan_source.py   one state of a table, of which scans choose columns and rows
changes.py       what has changed in a range of epochs
consumers.py     how far programs have read the changes of tables
rows_by_key.py   rows by their primary key
table.py         a table: how it is opened and created, reads, and restores
writing.py       changes of its rows, each in an epoch of its own
database.py      a database: its tables by name
opened_database.py  database_maintenance.py   the same for a database
design/          what a table is, as users state it and as the log stores it
alteration/  evolution/   its design changed: by a user, and by rows with other columns
epochs/          earlier states: history, time travel, tags and pins, restore, erase
transaction/     several statements that become one epoch
report/          what the log tells of a database and its tables, as pages and in notebooks
"""
