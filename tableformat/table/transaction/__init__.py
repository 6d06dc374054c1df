"""Several statements that become one epoch.

transaction.py    a transaction, and a table as it sees it
plan.py           what it has done so far, as a value
table_changes.py  what it has done to one table, as a value
"""
