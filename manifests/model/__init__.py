"""The values of the log: schemas, RowSet entries, operations, and their JSON.

All modules are pure, except that `deletion_vector` reads and writes the object of a vector.
"""
