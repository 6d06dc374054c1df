"""Features that later versions of the format add, and that this version refuses. Pure.

The log names each feature that readers or writers of the database must know. So a later version
can change what this one would misread: it enables a feature first. Version 1 has no features.
Spec: docs/spec/epoch-log.md#features
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import UnsupportedFormatError
from colonnade.manifests.model.operations import EnableFeatures
from colonnade.manifests.state.snapshot import Snapshot

READER_FEATURES: frozenset[str] = frozenset()
"""The features that this code can read. A database that requires another one is refused."""

WRITER_FEATURES: frozenset[str] = frozenset()
"""The features that this code can write. A database that requires another one is read-only."""


def check_reader_features(required: Iterable[str]) -> None:
    """Refuse features that this code cannot read. Raises UnsupportedFormatError, which names them.

    Every state that is read or made passes this check.
    """
    unknown = sorted(set(required) - READER_FEATURES)
    if unknown:
        raise UnsupportedFormatError(
            f"This database needs features that this version cannot read: {', '.join(unknown)};"
            " upgrade Colonnade."
        )


def check_writer_features(head: Snapshot) -> None:
    """Refuse to write after a state whose features this code cannot write.

    Raises UnsupportedFormatError, which names the features.
    """
    unknown = sorted(head.writer_features - WRITER_FEATURES)
    if unknown:
        raise UnsupportedFormatError(
            "Writing to this database needs features that this version does not know:"
            f" {', '.join(unknown)}; upgrade Colonnade."
        )


class FeaturesFold:
    """The features of a database, while they are being changed. None is ever disabled."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.reader, self.writer = snapshot.reader_features, snapshot.writer_features

    def enable(self, operation: EnableFeatures) -> None:
        """Add features. Raises UnsupportedFormatError for one that this code cannot read."""
        check_reader_features(operation.reader)
        self.reader |= frozenset(operation.reader)
        self.writer |= frozenset(operation.writer)
