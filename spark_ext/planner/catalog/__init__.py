"""Databases and tables: what Spark's catalog lists, creates, alters and drops.

databases.py     databases of a warehouse, and their tables
names.py         names in whatever case
alterations.py   changes of a table, as the table format has them
evolution.py     columns that a write brings into a table
removal.py       tables of Spark's own catalog that are dropped with their files
"""
