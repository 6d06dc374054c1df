"""The values of the log: schemas, RowSet entries, operations, and their JSON.

    schema.py                               columns and their types
    columns/                                what a column is beyond its type
    type_words.py                           types in the words of people
    entries.py  statistics.py               stored objects and their statistics; bounds as text
    partition_transforms.py                 how values of a column divide the rows of a table
    column_names.py                         names of columns in texts that people write
    constraints.py  primary_key.py          conditions on rows; columns that tell rows apart
    tombstones.py                           RowSets that remember deleted keys
    regions.py  range_tombstones.py         rows by the bounds of their values; such rows deleted
    lifetimes.py                            when rows expire
    operations.py                           what an epoch does to a database
    epoch.py                                the content of a slot
    map_ref.py                              where the pages of a large map are
    named_objects.py                        the objects that operations name
    codec.py                                the envelope of every JSON object
    deletion_vector.py                      deleted rows as bytes
    slot_blocks.py                          blocks of slots

All modules are pure, except that `deletion_vector` reads and writes the object of a vector.
"""
