"""The public classes for a Spark session, and the SQL that they write.

table database transaction   what `colonnade` exports
description                  the columns, keys and properties of a new table
row_methods                  the methods that change rows, for tables and transactions
statements column_sql        statements as text, and columns of Spark as text
merge                        the builder of a MERGE
update columns               updates that replace columns; computed columns
moments                      times, in the zone of the session
optimize                     compaction on the executors
"""
