"""What a view changes in stored rows: rows that it hides, and values of other tables that it shows.

hidden.py  kept_hidden.py    the rows inside hidden regions, and those found before
statics.py  key_codes.py     the static values of the rows' partition keys
"""
