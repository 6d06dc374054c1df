"""Parts of the fold: how the operations of an epoch change one part of a state. Pure.

first_epoch.py                          the state after epoch 0
refusal.py                              the error for an epoch that contradicts the state
rules.py                                what holds of the parts of a table after every epoch
columns.py  identity.py  statics.py  range_tombstones.py    parts of a table
rowsets.py  replaced_rows.py            the live RowSets of a table
retention.py                            tags, pins, leases, consumers and the floor
"""
