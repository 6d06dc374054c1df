"""Rows as the bytes of a RowSet: their order, and the objects that take them.

output.py    encoded blocks as the objects of a RowSet
sort.py      rows in the order of a sort key
spill.py     bytes that wait on local disk
"""
