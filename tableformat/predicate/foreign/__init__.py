"""Predicates from the filters of other libraries.

    tree.py       the tree of an expression of Arrow
    arrow.py      predicates from it, and what Arrow must evaluate
    polars.py     predicates from expressions of Polars
    meaning.py    whether a predicate means the same

Guide: docs/duckdb-polars.md
"""
