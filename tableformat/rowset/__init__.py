"""One RowSet: its blocks, indexes and footer as bytes, its reader and its writer.

    column.py  nested_forms.py    a column as blocks see it: id, order, the types it may have
    block.py  encodings/  ipc_stream.py  block_statistics.py    rows of a column as bytes
    sparse_index.py  bloom_filter.py  footer.py                 what is stored beside the blocks
    source.py  column_segments.py  stored_block.py              where the bytes are
    stored_reader.py  filter_pruning.py  deleted.py  adapt.py   stored rows out
    reader.py  statics.py  key_codes.py    rows with the static values of their partition keys
    hidden.py  kept_hidden.py  masks.py    rows and values that a reader does not show
    writer.py  output.py  sort.py  spill.py  write_options.py  task_writer.py    rows in
    read_back.py          rewritten rows compared with their inputs

Spec: docs/spec/rowset.md
"""
