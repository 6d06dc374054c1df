"""How a change gets its slot: what it conflicts with, how it is rebased, how it is sent.

    change.py                             a change that a writer wants to commit
    conflict_table.py                     what becomes of a kind of change after each other kind
    conflicts.py  vacuum_conflicts.py     may it follow later epochs?
    column_conflicts.py                   is its data right under the columns that a table has now?
    name_conflicts.py  constraint_conflicts.py  key_conflicts.py  identity_draws.py
    statics.py                            what it also does to tables of static values
    rebase/                               the change carried over later epochs
    spill.py                              entries in segments, if an epoch would hold too many
    turns.py                              the order of waiting writers
    attempt.py                            the steps of a commit, in one function, and what each does
    followed_head.py                      the newest state that a commit has followed the log to
    next_epoch.py                         the epoch that the change becomes at its slot
    outcome.py                            committed, not committed, or unknown; and the errors
    landed_changes.py  removals.py        is it in the log already? did a vacuum remove its objects?

Spec: docs/spec/epoch-log.md#commit
"""
