"""Parts of statements that several requests have, between Spark's form and the table format's.

filters.py      conditions and literals
defaults.py     defaults of columns
partitions.py   partition layouts
sort_keys.py    sort keys
columns_of_rows.py                                   columns that the rows of a write bring
constraints.py  generated.py  identity_columns.py    rules and values of the table itself
new_columns.py                                       columns that a statement asks for
static_columns.py                                    static columns, as properties state them
"""
