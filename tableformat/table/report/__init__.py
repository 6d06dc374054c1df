"""The page about a database or a table: `table.report()`, and `colonnade report`.

    report.py      the report that users get
    facts.py       reads the log, and counts RowSets and epochs in bins
    partitions.py  picks the largest partitions of a table
    charts.py      draws the facts as SVG; pure
    page.py        fills the template page.html; pure

Guide: docs/command-line.md#the-report
"""
