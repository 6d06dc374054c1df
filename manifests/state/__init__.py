"""The state of a database after an epoch, and the fold that makes it from operations. Pure.

snapshot.py  amendments.py     the state: tables, live RowSets, what came to them later
view.py                        a state as one reader sees it
fold.py                        a state and the next epoch make the next state
table_fold.py  columns_fold.py  constraints_fold.py            parts of the fold
identity_fold.py  primary_key_fold.py  lifetimes_fold.py  range_tombstones_fold.py
rowsets_fold.py  kept_fold.py  statics_fold.py  properties_fold.py  replaced_rows_fold.py
first_epoch.py                 the state after epoch 0
features.py                    features of later versions, which this one refuses
refusal.py                     the error for an epoch that contradicts the state
partition_layout.py  replaced_columns.py  rowset_ids.py        what parts of a state mean
partition_widening.py          wider types that leave every row in its partition
sort_order.py                  the columns that the rows of a RowSet are sorted by
"""
