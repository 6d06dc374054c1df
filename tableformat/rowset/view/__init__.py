"""What a view changes in stored rows: rows that it hides, and values of other tables that it shows.

rows_in_regions.py           the rows inside hidden regions
hidden_row_cache.py          such rows that this process has found
statics.py  key_codes.py     the static values of the rows' partition keys
"""
