"""Which rows of a table changed between two epochs, from the log, its vectors and its origins.

    steps.py            the epochs of a span, each with the state before it and after it
    touched_rowsets.py  the RowSets that the epochs of a span add, drop or amend
    moves.py            where rows were right before the epoch that wrote them anew
    lineage.py          where the rows of a RowSet were before the first epoch of a span

No value of a row is read here. `tableformat/feed/` reads the rows.
Spec: docs/spec/feed.md
"""
