"""The options of the data source, parsed once on the driver. Unknown ones are refused.

Spark passes options with lower-case keys and text values. All options except `path` are
Colonnade's, so a misspelt option is refused instead of ignored.

    names.py         the names of all options, by what they are for
    user_options.py  the options that a user has given, and the table that it is for
    read.py          of a read
    changes.py       of a read of changes
    streams.py       of a stream that reads a table
    write.py         of a write
"""
