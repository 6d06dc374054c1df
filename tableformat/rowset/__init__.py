"""One RowSet: its blocks, indexes and footer as bytes, its reader and its writer.

    column.py  nested_forms.py    a column as blocks see it: id, order, the types it may have
    block.py  encodings/  ipc_stream.py  block_statistics.py    rows of a column as bytes
    sparse_index.py  bloom_filter.py  footer.py                 what is stored beside the blocks
    stored_block.py  adapt.py                                   blocks of a cut; older values
    stored/                                                     stored rows out
    reader.py  deleted_rows.py  view/                           rows as a view shows them
    writer.py  write_options.py  task_writer.py  write/         rows in
    read_back.py          rewritten rows compared with their inputs

Spec: docs/spec/rowset.md
"""
