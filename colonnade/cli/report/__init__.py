"""The page that `colonnade report` writes.

    facts.py       what the log says of a database and each of its tables, counted and binned
    partitions.py  the largest partitions of a table
    charts.py      drawings of it all as SVG; pure
    page.py        put into page.html; pure

Guide: docs/command-line.md#the-report
"""
