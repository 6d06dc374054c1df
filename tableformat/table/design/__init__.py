"""What a table is, as users state it, and as the log stores it: columns, keys, rules, properties.

description.py    the design of a table in the words of its users
spec.py           what a new table is, as one value
new_table.py      a `TableSpec` checked and made an operation, before the table exists
primary_key.py  partition_key.py   the primary key; static columns, and the key of their values
defaults.py  default_sql.py        defaults of columns, as users state them and as SQL text
generated.py      columns that are computed from others
constraints.py    conditions that every row meets
lifetimes.py      time to live
properties.py     all properties, each checked before it is stored
other_formats.py  properties and options of other formats
restored_properties.py   properties of a table that gets other columns
"""
