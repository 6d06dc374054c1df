"""Remove what no kept epoch needs, safely beside every reader, writer and other vacuum.

    retention.py    which epochs may be removed: by age, number, and what keeps them; pure
    references.py   the objects that states and epochs of the log name
    objects.py      the meaning of a stored object's name; pure
    listing.py      a listing of the whole database, and the gaps in it
    plan.py         which of the stored objects may be removed; pure
    dropped_entries.py    entries of dropped RowSets in segments that live RowSets share
    floor.py        storing the states that outlive their epochs
    hinted_checkpoints.py  checkpoints that the hint leads to, and a hint to a usable one
    later_floor.py  beginning the history at a later checkpoint, once the floor's state is lost
    freeing.py      freeing the slots of blocks below the floor, each after its mark
    lost_marks.py   putting lost marks again, also where the log cannot be opened without them
    copies.py       second copies of the objects of anchors, made and restored
    removal.py      deleting what an epoch of the log has named
    known_names.py  names that a run need not read, because the run before it has
    result.py       what a run did, or would do
    inventory.py    what is asked of a run, and what it finds: it lists, reads and compares
    run.py          one run: take the inventory, commit an epoch that names the victims, remove

No clock decides what is live. A run lists objects and finds those that no kept epoch names. It
names these in an epoch of its own before it deletes one. A writer that relies on such an object
meets that epoch before its own slot, and begins again. Age only limits which objects a run
considers.
Spec: docs/spec/vacuum.md
"""
