"""What bytes mean: types, blocks, RowSets, predicates, scans, and the table over them.

Imports `manifests` and Arrow, never Spark. From the ground up:

    data of others, made a table's      sound_arrays arrow_types arrow_input plain_form plain_size
                                        text_form conversion value_checks conform
    one block of one column             column decimals encodings/ ipc_stream array_size block
                                        block_statistics
    what is known of blocks             sparse_index footer bloom_filter stored_block
    a RowSet, read                      rowset_source column_segments filter_pruning rowset_reader
                                        read_back
    a RowSet, written                   write_options rowset_output
    all RowSets of a task               sort task_writer rowset_writer partition/
    which rows                          predicate/ bound_text
    which table, which epoch            location time_travel history kept_epochs restore
    rows of a table, read               scan_plan scan arrow_scan selection keys
    tables made and written to          table_design alteration write_settings write_job
    rows changed                        assignments replacement statements/
    RowSets rewritten, checked, mended  compaction/ verify/ repair/ stop
    what users hold in their hands      table database table_work transaction erase
"""
