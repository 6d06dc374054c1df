"""Removing what no kept epoch needs, safely beside every reader, writer and other vacuum.

    retention.py    which epochs may go: by age, number, tags, pins and leases; pure
    references.py   the objects that states and epochs of the log name
    objects.py      what the name of a stored object says; pure
    plan.py         which of the stored objects may go; pure
    floor.py        storing the states that outlive their epochs, and putting stubs for these
    freeing.py      freeing the slots of blocks below the floor, each after its mark
    copies.py       second copies of what anchors are made of, made and restored
    removal.py      deleting what an epoch of the log has named
    result.py       what a run did, or would do
    run.py          one run: list, compare, commit an epoch that names the victims, remove

No clock decides what is live. A run lists objects, finds those that no kept epoch names, and says
so in an epoch of its own before it deletes one: whoever relies on an object since then meets that
epoch before its own slot, and begins again. Age only says what a run should not bother.
Spec: docs/spec/vacuum.md
"""
