"""SQL text as predicates and values. `sql` loads these modules when it first reads a text.

trees.py                    the tree of the SQL library
predicates.py  calls.py     conditions; operators and functions
casts.py  intervals.py      types and spans of time inside such texts
parameters.py               the values of ? and :name
names.py                    where a text names columns
whole_values.py             whether a text reads a nested column as one value
"""
