"""What is live: epochs, snapshots, checkpoints, conflicts, and the stores under them.

Each folder imports only folders above it in this list, which `tests/test_layers.py` checks:

    what every folder uses                    errors ids clock sizes durations version engine limits
    when modules are loaded; public names     later public
    properties that are computed once         once
    sentences for users beside results        notices
    the names of all stored objects           object_names
    files outside of databases                own_files
    where objects live                        store/
    what the log says: schemas, operations    model/
    a state, and the fold that makes it       state/
    many entries at once, as arrays           arrays/
    slots of the log, and the dates in them    epochs/
    a state as stored objects                 checkpoint/
    states as the log tells them              reading/
    how a change gets its slot in the log     commit/
    the log itself: reads and commits         log/
    which rows epochs have changed            feed/
    which RowSets to rewrite                  compaction/
    which objects to delete                   vacuum/
"""
