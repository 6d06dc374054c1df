"""The page that `colonnade report` writes.

facts.py    what the log says of a database and each of its tables, counted and binned
charts.py   drawings of it as SVG; pure
page.py     both put into page.html; pure
"""
