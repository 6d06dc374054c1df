"""SQL text as predicates and values. `sql` loads these modules when it first reads a text.

predicates.py  values.py    conditions, and values that are computed from a row
casts.py  intervals.py      types and spans of time inside such texts
names.py                    where a text names columns
whole_values.py             whether a text reads a nested column as one value
"""
