"""A table's partitions as the report shows them: the largest, however many there are."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.compaction.facts import RowSetFacts
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.partition.text import key_text

SHOWN = 20
"""So many partitions are listed one by one."""


@dataclass(frozen=True, slots=True)
class PartitionFacts:
    """One partition, of the `layout` of that number; None: RowSets that are of no partition."""

    text: str | None
    layout: int
    rowsets: int
    rows: int
    deleted_rows: int
    bytes: int


@dataclass(frozen=True, slots=True)
class PartitionsPage:
    """Of `count` partitions the `largest` ones; `earlier` RowSets are of another than `layout`.

    `most_rowsets` are those of one partition of that, which is the table's.
    """

    layout: int
    count: int
    largest: tuple[PartitionFacts, ...]
    most_rowsets: int
    earlier: int


def partitions_page(state: TableState, rowsets: RowSetFacts) -> PartitionsPage | None:
    """The partitions of a table; None for one that never had any.

    Raises CorruptionError for a value that its field cannot have.
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
