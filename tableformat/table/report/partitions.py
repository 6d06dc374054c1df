"""The partitions of a table in the report: the largest ones, at most `SHOWN`."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.compaction.facts import CompactionFacts
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.partition.text import key_text

SHOWN = 20
"""At most this many partitions are listed one by one."""


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """One partition of the layout number `layout`; `text` is None for unpartitioned RowSets."""

    text: str | None
    layout: int
    rowsets: int
    rows: int
    deleted_rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PartitionsPage:
    """The `largest` of `count` partitions of a table whose current layout is `layout`.

    `earlier` counts RowSets of earlier layouts. `most_rowsets` is the greatest number of RowSets
    in one partition of the current layout.
    """

    layout: int
    count: int
    largest: tuple[PartitionFacts, ...]
    most_rowsets: int
    earlier: int


def partitions_page(state: TableState, rowsets: CompactionFacts) -> PartitionsPage | None:
    """Return the partitions of a table; None for a table that was never partitioned.

    Raises CorruptionError for a partition value that does not fit the type of its field.
    """
    if not state.partition_layouts:
        return None
    now = state.partition_layout_id
    parts = rowsets.by_partition()
    largest = sorted(parts, key=lambda part: int(part[1].byte_counts.sum()), reverse=True)
    return PartitionsPage(
        layout=now,
        count=len(parts),
        largest=tuple(
            PartitionFacts(
                text=key_text(state, key),
                layout=key[0],
                rowsets=len(own),
                rows=int(own.rows.sum() - own.deleted.sum()),
                deleted_rows=int(own.deleted.sum()),
                bytes=int(own.byte_counts.sum()),
            )
            for key, own in largest[:SHOWN]
        ),
        most_rowsets=max((len(own) for key, own in parts if key[0] == now), default=0),
        earlier=sum(len(own) for key, own in parts if key[0] != now),
    )
