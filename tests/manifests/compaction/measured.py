"""Facts of RowSets for the picker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from benchmarks.log.compaction_curve import SimulatedTable
from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.compaction.picker import plan_compaction
from colonnade.manifests.compaction.plan import CompactionPlan
from colonnade.manifests.compaction.policy import CompactionPolicy

MIB = 2**20
POLICY = CompactionPolicy()
TABLE = SimulatedTable(POLICY, is_sorted=False)._state()


def facts(
    sizes: Sequence[int],
    deleted: Sequence[float] | None = None,
    ranges: Sequence[tuple[int, int]] | None = None,
    rows: int = 100_000,
) -> CompactionFacts:
    count = len(sizes)
    gone = [int(rows * share) for share in deleted or [0.0] * count]
    first, last = np.array(ranges, np.int64).T if ranges else (None, None)
    return CompactionFacts(
        np.arange(count) * 2 + 1,
        np.full(count, rows),
        np.array(gone, np.int64),
        np.array(sizes, np.int64),
        first,
        last,
    )


def plan(found: CompactionFacts, policy: CompactionPolicy = POLICY) -> CompactionPlan:
    return plan_compaction(TABLE, 7, found, policy)


def replaced(**values: int) -> CompactionPolicy:
    return CompactionPolicy(**{**POLICY.model_dump(), **values})
