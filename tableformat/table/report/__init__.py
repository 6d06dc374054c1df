"""The page about a database or a table: `table.report()`, and `colonnade report`.

    report.py      the report that users get
    database_facts.py  what the log tells of a database and its tables; the commands print it, too
    chart_data.py  reads the log, and counts RowSets and epochs in bins
    partitions.py  picks the largest partitions of a table
    charts.py      draws the facts as SVG; pure
    page.py        fills the template page.html; pure
    notebook.py    a table or a database as a notebook shows it

Guide: docs/command-line.md#the-report
"""
