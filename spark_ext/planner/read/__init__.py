"""What a query reads: a table as Spark loads it, the plan of its tasks, answers from the log.

reads.py                     requests of the source
aggregates.py  top_rows.py   answers and choices from the log alone
grouping.py                  tasks by partition
metadata.py                  tables about a table
"""
