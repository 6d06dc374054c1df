"""The objects that users hold: tables, databases and transactions, and their operations.

opened.py        which table was opened, the newest state that was read, its history
upkeep.py        compaction, vacuum, checks, repair, new RowSet ids
computed_columns.py   columns computed from others: added, or given other values
spec.py          what a new table is, as one value
creation.py      a table created of columns, or of rows that tell the columns
altering.py      changes of a table's design, its name and its end
scan_source.py   one state of a table, of which scans choose columns and rows
get.py           rows by their primary key
table.py         a table: how it is opened and created, reads, and restores
writing.py       changes of its rows, each in an epoch of its own
database.py      a database: its tables by name
opened_database.py  database_upkeep.py   the same for a database
transaction.py   several statements that become one epoch
transaction_plan.py  work.py  what a transaction has done so far: as a whole, and to one table
design.py  alteration/  properties.py      columns, keys, partitions and properties of a table
peer_words.py           properties and options of other formats
carried_properties.py   properties of a table that gets other columns
defaults.py  default_sql.py                defaults of columns, as users state them and as SQL text
new_columns.py  wanted_columns.py          columns that rows bring into a table
primary_key.py   the primary key of a table
constraints.py   conditions that every row of a table meets
lifetimes.py     time to live, as properties
partition_key.py static columns, and the key that their values belong to
generated.py     columns that are computed from others
history.py  time_travel.py  kept_epochs.py  restore.py     earlier states
restore_counts.py    what a restore did
erase.py         rows removed from every state
facts.py  report/    what the log tells of a database and its tables; the report about it
shown.py         what a notebook shows of tables and databases
"""
