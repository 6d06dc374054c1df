"""Properties and options of Delta Lake, Iceberg, Hudi and Parquet that users bring along.

None of them is stored. One that only tunes is taken, and a notice names the word of Colonnade for
it. One that promises something which the table would not keep is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.notices import notice

_Kind = Literal["tunes", "kept", "promises"]
_NOTHING = frozenset({"false", "none", ""})
"""Values with which a word promises nothing."""


@dataclass(frozen=True, slots=True)
class PeerWord:
    """What becomes of a word: it `tunes`, is `kept` by each table, or `promises` something.

    `advice` is the end of a sentence. With a value of `harmless`, the word promises nothing.
    `promise` ends a sentence about what the word promises.
    """

    kind: _Kind
    advice: str
    harmless: frozenset[str] = _NOTHING
    promise: str = "what a Colonnade table does not do"


def _tunes(advice: str = "leave it out") -> PeerWord:
    return PeerWord("tunes", advice)


def _kept(advice: str) -> PeerWord:
    return PeerWord("kept", advice)


def _promises(advice: str, unless: str | None = None) -> PeerWord:
    return PeerWord("promises", advice, _NOTHING if unless is None else frozenset({unless}))


def _asks(advice: str) -> PeerWord:
    return PeerWord("promises", advice, frozenset())


_UNKNOWN = PeerWord("promises", "leave it out", frozenset(), "what Colonnade does not know")
_SIZE = "the option targetFileSize and the property compaction.target-bytes choose sizes"
_COMPACTS = "the property compaction.auto compacts after commits"
_ALWAYS_EVOLVES = "columns of every table can be renamed, dropped and widened"
_FEED_IS_ON = (
    "the change feed of each table is always on, and changes of a table in Python reads it"
)
_FEED = "use the options readChangeFeed, startingVersion and endingVersion"
_HISTORY = "the properties retention.hours and retention.epochs say how much history is kept"
_ISOLATION = "set the property isolation to snapshot or serializable"
_ELSEWHERE = "other engines read a table through Python and Arrow; leave it out"
_STATE = "read an epoch or a tag with versionAsOf, or a time with timestampAsOf"
_CODEC = "each block is encoded and compressed by what suits its values"
_STATISTICS = "statistics of every column are kept"
_CHECKPOINTS = "checkpoints are made by themselves"
_OF_STREAMS = "it is an option of readStream"
_NEW_COLUMNS = "a stream that is started again has the new columns"
_RETRIES = "commits are tried again by themselves"

PEER_WORDS: Mapping[str, PeerWord] = {
    # Delta Lake
    "delta.appendOnly": _promises("no property forbids deletes; leave it out"),
    "delta.autoOptimize": _tunes(_COMPACTS),
    "delta.autoOptimize.autoCompact": _tunes(_COMPACTS),
    "delta.autoOptimize.optimizeWrite": _tunes(_SIZE),
    "delta.checkpoint.*": _tunes(_CHECKPOINTS),
    "delta.checkpointInterval": _tunes(_CHECKPOINTS),
    "delta.checkpointPolicy": _tunes(_CHECKPOINTS),
    "delta.columnMapping.mode": _kept(_ALWAYS_EVOLVES),
    "delta.columnMapping.*": _tunes(_ALWAYS_EVOLVES),
    "delta.compatibility.symlinkFormatManifest.enabled": _promises(_ELSEWHERE),
    "delta.constraints.*": _asks("use ALTER TABLE ... ADD CONSTRAINT name CHECK (...)"),
    "delta.dataSkippingNumIndexedCols": _tunes(_STATISTICS),
    "delta.dataSkippingStatsColumns": _tunes(_STATISTICS),
    "delta.deletedFileRetentionDuration": _promises(_HISTORY),
    "delta.enableChangeDataFeed": _kept(_FEED_IS_ON),
    "delta.enableDeletionVectors": _kept("deleted rows are marked, and no file is rewritten"),
    "delta.enableExpiredLogCleanup": _promises(_HISTORY, "true"),
    "delta.enableIcebergCompatV1": _promises(_ELSEWHERE),
    "delta.enableIcebergCompatV2": _promises(_ELSEWHERE),
    "delta.enableInCommitTimestamps": _kept("the log itself has the time of each epoch"),
    "delta.enableRowTracking": _promises("rows have no ids that stay; use a primary key"),
    "delta.enableTypeWidening": _kept(_ALWAYS_EVOLVES),
    "delta.feature.allowColumnDefaults": _kept("every column may have a default"),
    "delta.feature.changeDataFeed": _kept(_FEED_IS_ON),
    "delta.feature.checkConstraints": _kept("every table may have CHECK constraints"),
    "delta.feature.columnMapping": _kept(_ALWAYS_EVOLVES),
    "delta.feature.deletionVectors": _kept("deleted rows are marked, and no file is rewritten"),
    "delta.feature.generatedColumns": _kept("every table may have generated columns"),
    "delta.feature.identityColumns": _kept("every table may have identity columns"),
    "delta.feature.invariants": _kept("every column may be NOT NULL"),
    "delta.feature.timestampNtz": _kept("every table may have such columns"),
    "delta.feature.typeWidening": _kept(_ALWAYS_EVOLVES),
    "delta.feature.v2Checkpoint": _tunes(_CHECKPOINTS),
    "delta.isolationLevel": _promises(_ISOLATION),
    "delta.logRetentionDuration": _promises(_HISTORY),
    "delta.minReaderVersion": _tunes("the log itself states which features readers need"),
    "delta.minWriterVersion": _tunes("the log itself states which features writers need"),
    "delta.parquet.*": _tunes(_CODEC),
    "delta.randomPrefixLength": _tunes(),
    "delta.randomizeFilePrefixes": _tunes(),
    "delta.setTransactionRetentionDuration": _tunes("batches are remembered as long as the table"),
    "delta.targetFileSize": _tunes(_SIZE),
    "delta.tuneFileSizesForRewrites": _tunes(_SIZE),
    "delta.universalFormat.*": _promises(_ELSEWHERE),
    "delta.*": _UNKNOWN,
    "dataChange": _tunes("compaction itself says that it changes no rows"),
    "optimizeWrite": _tunes(_SIZE),
    # Iceberg
    "commit.manifest*": _tunes("the log itself chooses the sizes of its objects"),
    "commit.retry.*": _tunes(_RETRIES),
    "commit.status-check.*": _tunes(_RETRIES),
    "format-version": _tunes(),
    "gc.enabled": _promises("a tag keeps an epoch from vacuum; leave it out", "true"),
    "history.expire.*": _asks(_HISTORY),
    "read.orc.*": _tunes(),
    "read.parquet.*": _tunes(),
    "read.split.*": _tunes(),
    "write.avro.*": _tunes(_CODEC),
    "write.data.path": _asks("a table is stored in its database"),
    "write.delete.isolation-level": _asks(_ISOLATION),
    "write.delete.*": _tunes("deleted rows are marked, and no file is rewritten"),
    "write.distribution-mode": _tunes("the partitions of a table and its sort key divide its rows"),
    "write.format.default": _tunes("the format of a table cannot be chosen"),
    "write.merge.isolation-level": _asks(_ISOLATION),
    "write.merge.*": _tunes("deleted rows are marked, and no file is rewritten"),
    "write.metadata.path": _asks("a table is stored in its database"),
    "write.metadata.*": _tunes(_STATISTICS),
    "write.object-storage.*": _tunes(),
    "write.orc.*": _tunes(_CODEC),
    "write.parquet.bloom-filter-enabled.column.*": _promises(
        "use the property bloom-filter-enabled.column. with the name of the column"
    ),
    "write.parquet.*": _tunes(_CODEC),
    "write.spark.accept-any-schema": _promises("use the option mergeSchema"),
    "write.spark.*": _tunes(),
    "write.summary.*": _tunes(),
    "write.target-file-size-bytes": _tunes(_SIZE),
    "write.update.isolation-level": _asks(_ISOLATION),
    "write.update.*": _tunes("deleted rows are marked, and no file is rewritten"),
    "write.upsert.enabled": _promises("set the property onDuplicate to merge"),
    "write.*": _UNKNOWN,
    # Hudi, Parquet and Hive
    "compression": _tunes(_CODEC),
    "hoodie.*": _UNKNOWN,
    "orc.*": _tunes(_CODEC),
    "parquet.*": _tunes(_CODEC),
}
"""Words of properties, which are options of a write, too.

A word that ends with `*` is every word that begins so; the longest one counts.
"""

PEER_OPTIONS: Mapping[str, PeerWord] = {
    "allowSourceColumnDrop": _tunes(_NEW_COLUMNS),
    "allowSourceColumnRename": _tunes(_NEW_COLUMNS),
    "allowSourceColumnTypeChange": _tunes(_NEW_COLUMNS),
    "as-of-timestamp": _asks(_STATE),
    "batch-size": _tunes(),
    "branch": _asks(_STATE),
    "check-nullability": _promises("NOT NULL always counts; leave it out", "true"),
    "check-ordering": _tunes("columns are matched by name"),
    "compression-codec": _tunes(_CODEC),
    "compression-level": _tunes(_CODEC),
    "compression-strategy": _tunes(_CODEC),
    "delete-format": _tunes(),
    "delete-granularity": _tunes(),
    "distribution-mode": _tunes("the partitions of a table and its sort key divide its rows"),
    "end-snapshot-id": _asks(_FEED),
    "excludeRegex": _asks("filter the rows of the stream by a condition"),
    "fanout-enabled": _tunes(),
    "file-open-cost": _tunes(),
    "ignoreChanges": _tunes(_OF_STREAMS),
    "ignoreDeletes": _tunes(_OF_STREAMS),
    "ignoreFileDeletion": _asks("use the option ignoreChanges"),
    "isolation-level": _asks(_ISOLATION),
    "locality": _tunes(),
    "lookback": _tunes(),
    "maxBytesPerTrigger": _tunes(_OF_STREAMS),
    "maxFilesPerTrigger": _tunes(_OF_STREAMS),
    "merge-schema": _promises("use the option mergeSchema"),
    "readChangeData": _promises("use the option readChangeFeed"),
    "schemaTrackingLocation": _tunes("the log of the database has the columns of each epoch"),
    "skipChangeCommits": _tunes(_OF_STREAMS),
    "snapshot-id": _asks(_STATE),
    "snapshot-property.*": _asks("use the option userMetadata"),
    "split-size": _tunes(),
    "start-snapshot-id": _asks(_FEED),
    "stream-from-timestamp": _asks("use the option startingTimestamp, a time as text"),
    "streaming-max-files-per-micro-batch": _asks("use the option maxFilesPerTrigger"),
    "streaming-max-rows-per-micro-batch": _asks("use the option maxRowsPerTrigger"),
    "streaming-skip-delete-snapshots": _promises("use the option ignoreDeletes", "false"),
    "streaming-skip-overwrite-snapshots": _promises("use the option skipChangeCommits", "false"),
    "target-file-size-bytes": _tunes("use the option targetFileSize"),
    "validate-from-snapshot-id": _asks("use the option expectEpoch"),
    "vectorization-enabled": _tunes(),
    "withEventTimeOrder": _promises(
        "set maxFilesPerTrigger so that one batch takes all rows that the table has", "false"
    ),
    "write-format": _tunes("the format of a table cannot be chosen"),
}
"""Words that are options only: a user may have a property of such a name."""


def peer_word(name: str, what: Literal["Property", "Option"]) -> PeerWord | None:
    """Return the word of a peer that a property or option is, in any case; None for no such one."""
    folded = name.casefold()
    words = PEER_WORDS if what == "Property" else {**PEER_WORDS, **PEER_OPTIONS}
    fitting = [word for word in words if _fits(word.casefold(), folded)]
    return words[max(fitting, key=len)] if fitting else None


def _fits(word: str, name: str) -> bool:
    return name.startswith(word[:-1]) if word.endswith("*") else name == word


def without_peer_words(
    given: Mapping[str, str], what: Literal["Property", "Option"]
) -> dict[str, str]:
    """Return properties or options without the words of peers, each of which gets a notice.

    Raises InvalidInputError for a word that promises something.
    """
    kept = dict(given)
    for name, value in given.items():
        found = peer_word(name, what)
        if found is None:
            continue
        if found.kind == "promises" and value.strip().casefold() not in found.harmless:
            raise InvalidInputError(
                f"{what} {name!r} of another format promises {found.promise}: {found.advice}."
            )
        state = "is not needed" if found.kind == "kept" else "has no effect"
        notice(f"{what} {name!r} of another format {state} here and is not stored: {found.advice}.")
        del kept[name]
    return kept
