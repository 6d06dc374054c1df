"""Rows and columns of a table, and their compaction.

encoding.py  bloom.py  append.py  many_columns.py  verify.py  alterations.py
lifetimes.py  task_memory.py  compaction.py  engine_filters.py
"""
