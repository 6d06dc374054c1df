"""The state of a database after an epoch, and the fold that makes it from operations. Pure.

snapshot.py  amendments.py     the state: tables, live RowSets, what came to them later
view.py                        a state as one reader sees it
fold.py                        a state and the next epoch make the next state
alterations.py                 every operation that alters a table, in a row each
folds/                         parts of the fold
features.py                    features of later versions, which this one refuses
partition_layout.py  replaced_columns.py  rowset_ids.py        what parts of a state mean
partition_widening.py          wider types that leave every row in its partition
sort_order.py                  the columns that the rows of a RowSet are sorted by
"""
