"""Arrow columns as table columns: types, conversion, checks of values and sizes. Does no I/O.

    arrow_types.py   types of the table in Arrow: for users, and for storage
    storage_form.py  arrays of one of these forms as arrays of the other
    input/           what users pass, as data and as types of a table
    pandas_index.py  what of the index of a pandas frame is data
    conform.py       data from outside in the exact types of a table, or a refusal
    conversion.py  plain_form.py  text_form.py  decimals.py    one form from many physical ones
    value_checks.py  valid_text.py    what a table promises about values beyond their Arrow type
    sound_arrays.py  array_size.py  plain_size.py    arrays that Arrow can hold, and their pieces
    compute.py       the compute functions of Arrow
    same_values.py   two columns compared row by row
    chosen_rows.py   some rows of an array, without a copy where that is possible
    stored_value.py  default_values.py   values of a column, and of columns that rows lack
    bound_text.py    bounds of the log as text for people

Spec: docs/spec/types.md
"""
