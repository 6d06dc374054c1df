"""One round of maintenance: compact tables by their policies, vacuum, and write a checkpoint.

    plan.py      decides what a round does; pure
    round.py     runs the steps; a step that fails does not stop the next one
    journal.py   appends one line for each round to the journal of the database

Guide: docs/maintenance.md
"""
