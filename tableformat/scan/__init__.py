"""Rows of a table, read: the plan of a scan, its run, and the rows that a predicate selects."""
