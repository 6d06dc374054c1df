"""What the log says: schemas, entries of RowSets, operations, and their JSON. Values alone.

`deletion_vector` also reads and writes the one object that an entry may point to.
"""
