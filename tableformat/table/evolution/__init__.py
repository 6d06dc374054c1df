"""Columns that rows bring into a table.

needed_alterations.py   which alterations let a table hold such rows
fit_rows.py             commits them before the rows, or fits the rows to the table
"""
