"""The options of a stream that reads a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.options.changes import bound
from colonnade.spark_ext.options.names import FEED, IGNORING, STREAM
from colonnade.spark_ext.options.stated import Stated, TableOptions

_FILES_OF_A_TRIGGER = 1000
"""A trigger takes at most this many RowSets if no limit is stated."""


@dataclass(frozen=True, slots=True)
class StreamOptions(TableOptions):
    """The options of a stream that reads a table.

    `start` is the `startingVersion` (an epoch, a tag or `latest`) or the `startingTimestamp`. The
    limits of a trigger are `maxFilesPerTrigger` (RowSets), `maxBytesPerTrigger` (bytes, or text
    such as `10g`) and `maxRowsPerTrigger`. With `readChangeFeed`, the stream has the changes of the
    table, as `ChangeOptions` says. Without it, `ignoreDeletes`, `ignoreChanges` and
    `skipChangeCommits` say what becomes of epochs that delete or update rows. `failOnDataLoss` and
    `failOnNewColumns` say what stops the stream.
    """

    start: str | datetime | None
    changes: bool
    updates: bool
    ignore_deletes: bool
    ignore_changes: bool
    skip_changes: bool
    fail_on_loss: bool
    fail_on_new_columns: bool
    files: int | None
    bytes: int | None
    rows: int | None


def parse_stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Parse the options of a stream. Raises InvalidInputError that names a wrong one."""
    stated = Stated.among(options, STREAM, "reading a stream")
    changes = stated.truth(FEED, False)
    deletes, updates, skips = ignoring = [stated.truth(name, False) for name in IGNORING]
    for name, chosen in zip(IGNORING, ignoring, strict=True):
        if chosen and changes:
            raise InvalidInputError(
                f"Options {FEED} and {name} exclude each other: a stream of changes shows all of"
                " them."
            )
    if not changes and "computeUpdates" in stated:
        raise InvalidInputError(f"Option computeUpdates needs {FEED}, because only it has updates.")
    files = stated.integer("maxFilesPerTrigger", 1)
    rows = stated.integer("maxRowsPerTrigger", 1)
    most = stated.byte_size("maxBytesPerTrigger")
    if files is None and rows is None and most is None:
        files = _FILES_OF_A_TRIGGER
    return StreamOptions(
        stated.path,
        bound(stated, "starting"),
        changes,
        stated.truth("computeUpdates", True),
        deletes,
        updates,
        skips,
        stated.truth("failOnDataLoss", True),
        stated.truth("failOnNewColumns", True),
        files,
        most,
        rows,
        storage=stated.storage,
    )
