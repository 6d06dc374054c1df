"""One round of maintenance: compact what the policy asks for, vacuum, write a checkpoint.

    plan.py      what a round is going to do; pure
    round.py     doing it, each step whatever became of the others
    journal.py   the line that each round leaves

Guide: docs/maintenance.md
"""
