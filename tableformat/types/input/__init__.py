"""What users pass, as data and as types of a table. Does no I/O.

arrow_input.py    whatever a user passes, as record batches
python_rows.py    lists and dicts of Python, as Arrow tables
column_types.py   columns and types in any form in which users state them
changed_types.py  types of Arrow that a table does not keep
"""
