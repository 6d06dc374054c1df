"""The names of the options of the data source, by what they are for."""

from __future__ import annotations

from difflib import get_close_matches

from colonnade.manifests.errors import InvalidInputError

READING = ("versionAsOf", "epoch", "timestampAsOf", "schemaEpoch", "seenAt", "where")

EVOLVING = ("mergeSchema", "ignoreUnknownColumns")
"""Options that a rule of the jar carries out before Spark compares columns."""

WRITING = (
    "maxRecordsPerFile",
    "targetFileSize",
    "userMetadata",
    "sortKey",
    "primaryKey",
    "onDuplicate",
    "partitionBy",
    "partitionOverwriteMode",
    "replaceWhere",
    "overwriteSchema",
    *EVOLVING,
    "txnAppId",
    "txnVersion",
    "expectEpoch",
    "leaseHours",
    "ttl",
)

FEED = "readChangeFeed"

RANGE = (
    "startingVersion",
    "endingVersion",
    "startingTimestamp",
    "endingTimestamp",
    "startingBoundInclusive",
    "endingBoundInclusive",
    "allowFuture",
)
"""Options that say which epochs are read."""

CHANGES = (FEED, *RANGE, "deduplicationMode", "computeUpdates", "also", "schemaEpoch", "consumer")
"""Options of a read of changes, by the names of Delta and Spark where they have one."""

IGNORING = ("ignoreDeletes", "ignoreChanges", "skipChangeCommits")
"""What becomes of deleted and updated rows in a stream of inserted rows."""

STREAM = (
    FEED,
    "startingVersion",
    "startingTimestamp",
    "computeUpdates",
    "maxFilesPerTrigger",
    "maxBytesPerTrigger",
    "maxRowsPerTrigger",
    *IGNORING,
    "failOnDataLoss",
    "failOnNewColumns",
)
"""Options of a stream that reads a table, by the names of Delta where it has one."""

_SPELLING = {name.lower(): name for name in (*READING, *WRITING, *CHANGES, *STREAM)}


def name_error(key: str, allowed: tuple[str, ...], purpose: str) -> InvalidInputError:
    """Return the error for an option, in lower case, that is not among those of a purpose."""
    known = ", ".join(allowed)
    if key in _SPELLING:
        return InvalidInputError(
            f"Option {_SPELLING[key]} is not for {purpose}; its options are {known}."
        )
    near = get_close_matches(key, [name.lower() for name in allowed], n=1)
    hint = f"did you mean {_SPELLING[near[0]]}? The" if near else "the"
    return InvalidInputError(
        f"Option {key!r} is unknown; {hint} options for {purpose} are {known}."
    )
