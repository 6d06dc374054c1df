"""What is live: epochs, snapshots, checkpoints, conflicts, and the stores under them.

From the ground up:

    what all others use                     errors ids names sizes limits clock engine version
    where objects live                      store/
    what the log says                       schema entries operations
    epochs as bytes, in their slots         codec slots creation
    bounds, as text and as arrays           statistics vectors bounds statistics_block
    what a table asks of its RowSets        partition_layout partitions bloom_columns
    what came to a RowSet later             deletion_vector replacement named_objects
    a state, and what an epoch makes of it  snapshot fold rowsets_fold
    many entries at once                    entry_block entry_table segment spill
    large maps, an entry of which is read   paged_map stored_map
    a state, stored                         checkpoint checkpoint_reader checkpoint_writer
    tables that are read when asked for     stored_tables
    what a writer wants, and may            change conflicts vacuum_conflicts rebase/
    how it comes to its slot                sending turns
    the dates of epochs, and what they mean dating epoch_times
    the log itself                          log_reader log
    the end of a log, and of its files      dropping removed_folder
    what to rewrite, what to remove         compaction/ vacuum/
"""
