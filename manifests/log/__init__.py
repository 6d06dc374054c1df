"""The log of a database: its writer, its creation and its end.

log.py               the writer: the only module that commits
statement_log.py     the log as one statement reads it, at one time
background_checkpoint.py  checkpoints that no commit waits for
creation.py          epoch 0
other_formats.py     logs of other formats, whose tables are not ours
dropping.py  removed_folder.py  removed_objects.py    the end of a log, and of its files
"""
