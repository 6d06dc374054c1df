"""What a column is beyond its type, and what the properties of a table mean for it. Pure.

check.py                     the rules for a table's columns
default.py  generated.py     values of columns that rows do not give
identity.py                  the next values of identity columns
statics.py                   columns with one value for each partition key
internal.py  void.py         columns that a table does not show; those that RowSets leave out
widening.py  nested.py       wider types, and changes of fields inside a column
stated_sql.py                stored text, by the present names of its columns
properties.py                properties that name a column, by ids and by names
bloom.py  text_policy.py     which columns get Bloom filters; what is done with invalid text
"""
