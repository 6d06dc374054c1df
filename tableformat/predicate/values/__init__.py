"""Values that are computed from rows, as Spark's ANSI mode computes them. Pure.

row_value.py    a value whose columns are resolved; constants
types.py        the types of results
functions.py    every function by its name in SQL
arithmetic.py  decimal_arrays.py    numbers
casts.py  zones.py  moments.py      casts; dates, times and intervals
texts.py  nested.py                 text; lists and structs
choices.py  compared.py  compare_arrays.py    CASE and the like; comparisons
"""
