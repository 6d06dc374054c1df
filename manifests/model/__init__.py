"""The values of the log: schemas, RowSet entries, operations, and their JSON.

    schema.py  schema_check.py              columns and their types; the rules for a table's columns
    type_words.py                           types in the words of people
    entries.py  statistics.py               stored objects and their statistics; bounds as text
    partition_transforms.py                 how values of a column divide the rows of a table
    column_names.py                         names of columns in texts that people write
    column_default.py                       values of columns that rows do not give
    widening.py  nested_fields.py           wider types, and changes of fields inside a column
    void.py                                 columns without a type, which RowSets leave out
    identity.py                             the next values of identity columns
    constraints.py  primary_key.py          conditions on rows; columns that tell rows apart
    tombstones.py                           RowSets that remember deleted keys
    regions.py  range_tombstones.py         rows by the bounds of their values; such rows deleted
    lifetimes.py  hidden_columns.py         when rows expire; when they were written
    generated.py                            columns that follow from other columns
    stated_sql.py                           stored text, by the present names of its columns
    statics.py                              columns with one value for each partition key
    operations.py                           what an epoch does to a database
    epoch.py                                the content of a slot
    map_ref.py                              where the pages of a large map are
    named_objects.py                        the objects that operations name
    codec.py                                the envelope of every JSON object
    deletion_vector.py                      deleted rows as bytes
    slot_blocks.py                          blocks of slots
    bloom_columns.py  text_policy.py        what properties of a table mean
    column_properties.py                    properties that name a column, by ids and by names

All modules are pure, except that `deletion_vector` reads and writes the object of a vector.
"""
