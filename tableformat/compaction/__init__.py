"""Rewriting RowSets without changing a row: planned, run and committed apart.

    job.py          one group of a plan with everything that it takes, as JSON
    inputs.py       the rows that are left of the RowSets of a job, stretch by stretch
    concatenate.py  one RowSet after another; full blocks are copied as they are stored
    merge.py        sorted RowSets side by side
    zorder.py       all rows in a new order, on disk where memory does not do
    run.py          a job run: its RowSets are written, nothing is visible
    lease.py        keeping vacuum from what a long job reads and writes
    commit.py       what was written becomes an epoch, or is dropped
    execute.py      jobs beside each other, each committed as soon as it is done
    optimize.py     `table.optimize()`
    auto.py         a small compaction by a writer, after its commit

Guide: docs/compaction.md
"""
