"""`CALL colonnade.system.<name>(...)`.

by_name.py                        all procedures, their parameters and result rows
care.py  compaction.py  consumers.py  epochs.py  transaction_calls.py    what they do
"""
