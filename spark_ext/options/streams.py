"""The options of a stream that reads a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.options.changes import bound
from colonnade.spark_ext.options.names import FEED, IGNORING, STREAM
from colonnade.spark_ext.options.user_options import TableOptions, UserOptions
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.source import StreamRules

_FILES_OF_A_TRIGGER = 1000
"""A trigger takes at most this many RowSets if no limit is stated."""


@dataclass(frozen=True, slots=True)
class StreamOptions(TableOptions):
    """The options of a stream that reads a table.

    `start` is the `startingVersion` (an epoch, a tag or `latest`) or the `startingTimestamp`. The
    `limits` of a trigger are `maxFilesPerTrigger` (RowSets), `maxBytesPerTrigger` (bytes, or text
    such as `10g`) and `maxRowsPerTrigger`.

    The `rules` are `readChangeFeed` and `computeUpdates`; `ignoreDeletes`, `ignoreChanges` and
    `skipChangeCommits` for a stream of inserted rows; `failOnDataLoss` and `failOnNewColumns`.
    """

    start: str | datetime | None
    rules: StreamRules
    limits: Limits


def parse_stream_options(options: Mapping[str, str]) -> StreamOptions:
    """Parse the options of a stream. Raises InvalidInputError that names a wrong one."""
    stated = UserOptions.among(options, STREAM, "reading a stream")
    changes = stated.truth(FEED, False)
    ignored = [name for name in IGNORING if stated.truth(name, False)]
    if changes and ignored:
        raise InvalidInputError(
            f"Options {FEED} and {ignored[0]} exclude each other: a stream of changes shows all of"
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
        StreamRules(
            changes=changes,
            updates=stated.truth("computeUpdates", True),
            ignore_deletes="ignoreDeletes" in ignored,
            ignore_changes="ignoreChanges" in ignored,
            skip_changes="skipChangeCommits" in ignored,
            fail_on_loss=stated.truth("failOnDataLoss", True),
            fail_on_new_columns=stated.truth("failOnNewColumns", True),
        ),
        Limits(files, most, rows),
        storage=stated.storage,
    )
