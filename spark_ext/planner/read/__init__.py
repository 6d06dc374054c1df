"""What a query reads: a table, the plan of its tasks, answers from the log.

load.py                      a table as Spark loads it, and the options of a read
reads.py                     the plan of a query
feed.py                      the plan of a query of changes
streams.py                   offsets and tasks of a stream
feed_tasks.py                what tasks of changes are told, as JSON
scan_tasks.py                what a task is told, as JSON
aggregates.py  top_rows.py   answers and choices from the log alone
task_split.py                how many tasks, and by what they are divided
grouping.py  in_order.py     tasks by partition; tasks whose rows have the order of the sort key
metadata.py                  tables about a table
"""
