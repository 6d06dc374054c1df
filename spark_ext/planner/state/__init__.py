"""What the planner keeps from one request to the next.

storage.py        the storage options of a session and of a DataFrame
transactions.py   the open transactions of sessions
snapshots.py      the states that were read
unsent_transactions.py  transaction ids that no process has tried to commit
"""
