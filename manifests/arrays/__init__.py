"""Many entries as NumPy arrays and as bytes: bounds, entry blocks and entry segments. Pure.

json_arrays.py  bounds.py  statistics_block.py  partitions.py    columns of numbers and bounds
hidden_rows.py  region_bounds.py  expired_regions.py           what a table hides of its RowSets
entry_block.py  entry_table.py                               many RowSets in memory
entry_segment.py  segment_statistics.py  segment_objects.py  many RowSets as one stored object
origins.py                                                   where rows come from
"""
