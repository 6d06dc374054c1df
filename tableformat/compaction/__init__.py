"""Rewriting RowSets without changing a row. Planning, running and committing are separate.

    job.py          one group of a plan with everything that it takes, as JSON
    inputs.py       the live rows of the RowSets of a job, stretch by stretch
    concatenate.py  one RowSet after another; full blocks are copied in their stored form
    merge.py        sorted RowSets side by side
    zorder.py       all rows in a new order, on disk when memory is too small
    run.py          runs a job: its RowSets are written, but no reader sees them
    lease.py        keeps what a long job reads and writes from vacuum
    commit.py       commits what was written as an epoch, or drops it
    execute.py      runs jobs in parallel, and commits each as soon as it is done
    optimize.py     `table.optimize()`
    purge.py        rows that have expired, deleted before a compaction
    clean.py        rows of range tombstones, named by vectors before a compaction
    tombstones.py   deleted keys that a table remembers: forgotten or merged
    schedule.py     whether the schedule of a table lets a round of maintenance compact it
    auto.py         a small compaction by a writer, after its commit

Guide: docs/compaction.md
"""
