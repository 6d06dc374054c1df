"""Earlier states of tables and databases: found, kept, restored and removed.

history.py        the epochs that changed a table
time_travel.py    which state is meant by an epoch, a time or a tag
epoch_range.py    which epochs the bounds of a change feed mean
tags_and_pins.py  epochs that are kept for good, or until a time
restore.py  restore_counts.py   a state made the newest one again, and what that did
erase.py          rows removed from every state
"""
