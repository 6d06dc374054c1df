"""A state as stored objects: a root, segments, and maps whose pages are read on demand.

    root.py  writer.py  reader.py     a checkpoint as bytes, written, found and read
    segment_choice.py                 the segments that a new checkpoint keeps or merges
    hint.py                           the hint to the newest checkpoint
    paged_map.py  stored_map.py       large maps in pages
    stored_tables.py  stored_batches.py  loaded_pages.py  anchor_list.py    what is in such maps
    segment_names.py  epoch_names.py  names_file.py    what vacuums remember of both
    stored_object.py                  one object, or the copy of an anchor's object

Spec: docs/spec/checkpoint.md
"""
