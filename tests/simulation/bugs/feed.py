"""Mistakes after which a change feed tells too much, or too little."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray
from pyroaring import FrozenBitMap

from colonnade.manifests.arrays.origins import Rows, by_rowset
from colonnade.manifests.commit import name_conflicts
from colonnade.manifests.feed import moves
from colonnade.manifests.model.operations import Compaction, DropConsumer, SetConsumer
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.folds.retention import RetentionFold
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.tableformat.feed import images
from colonnade.tableformat.feed.difference import _Compared
from tests.simulation.actors.compactor import Compactor
from tests.simulation.actors.consumer import Consumer
from tests.simulation.actors.feed_reader import FeedReader
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug


def _never_same(one: Any, other: Any) -> NDArray[np.bool_]:
    return np.zeros(len(one), np.bool_)


def _takes_rows_that_went(
    compared: _Compared, rowset: LiveRowSet, shown: FrozenBitMap
) -> FrozenBitMap:
    """Find each row again that has moved, also one that was deleted where it has moved to."""
    origins = compared._span.lineage.of(rowset.id)
    for earlier, _, rows in by_rowset(origins.where.array()) if origins else ():
        compared._take(earlier, FrozenBitMap(rows))
    return _real_came(compared, rowset, shown)


_real_came = _Compared._came


def _in_order(reader: LogReader, op: Compaction) -> Rows:
    """Take the rows of a compaction for those of its inputs, in their order."""
    return _real_compacted(reader, op)[::-1]


_real_compacted = moves._compacted


@contextmanager
def _moves_from_anywhere() -> Iterator[None]:
    def consume(fold: RetentionFold, epoch: int, operation: SetConsumer | DropConsumer) -> None:
        known = fold.consumers.get(operation.name)
        if isinstance(operation, SetConsumer) and known is not None:
            operation = operation.model_copy(update={"before": known.seen})
        real(fold, epoch, operation)

    real = RetentionFold.consume
    with (
        patch.object(RetentionFold, "consume", consume),
        patch.object(name_conflicts, "_check_consumer", lambda *_: None),
    ):
        yield


CONSUMING = (Consumer(6), Writer(4))


BUGS: tuple[Bug, ...] = (
    Bug(
        "an image of a row is told whose values did not change",
        lambda: patch.object(images, "same_values", _never_same),
        actors=(Writer(mix=(3, 0, 6, 0, 0, 0, 0)), FeedReader(1)),
        seeds=50,
    ),
    Bug(
        "a deletion is lost where a compaction moved the row before",
        lambda: patch.object(_Compared, "_came", _takes_rows_that_went),
        actors=(Writer(mix=(4, 4, 0, 0, 0, 0, 0)), Compactor(4), FeedReader(6)),
        seeds=50,
    ),
    Bug(
        "a compaction is followed to other rows than those that it moved",
        lambda: patch.object(moves, "_compacted", _in_order),
        actors=(Writer(mix=(4, 4, 2, 0, 0, 0, 0)), Compactor(4), FeedReader(6)),
        seeds=50,
    ),
    Bug(
        "a consumer is moved from where another process has moved it",
        _moves_from_anywhere,
        rate=0.04,
        actors=CONSUMING,
        seeds=50,
    ),
)
