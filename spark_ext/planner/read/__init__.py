"""What a query reads: a table as Spark loads it, the plan of its tasks, answers from the log.

reads.py                     requests of the source
aggregates.py  top_rows.py   answers and choices from the log alone
division.py                  how many tasks, and by what they are divided
grouping.py  in_order.py     tasks by partition; tasks whose rows have the order of the sort key
metadata.py                  tables about a table
"""
