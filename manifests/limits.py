"""Limits on one object, one epoch or one step: parameters of a log.

Limits decide how a writer divides its work. They do not affect readers: a reader can read what a
writer with any limits wrote. Bugs in dividing appear only where there are several parts, so tests
make logs with tiny limits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a log: counts, and sizes in bytes.

    An epoch file has at most `epoch_bytes`, which must be at most the format's 8 MiB. It lists at
    most `listed_rowsets` RowSets of one table, and entries of at most `listed_bytes` for all tables
    together. It names at most `victims` objects that a vacuum removes, and lists at most
    `listed_anchors` anchors below the floor; an object lists more. The log stores deletion vectors
    and origins of at most `inline_bytes`, and RowSets of at most `inline_rowset_bytes`.

    An entry segment has at most `segment_rowsets` entries. It is full when its inline data reaches
    `segment_inline_bytes`. Checkpoints keep a segment unchanged if it has reached half of either
    limit. They write it again when the root of the checkpoint holds newer vectors for
    more than `segment_vectors` of its RowSets.

    The root of a checkpoint stores up to `root_tables` tables itself. It stores more tables if it
    then still takes at most `root_bytes`. Larger maps are stored in pages of about `page_bytes`.

    Replaced columns must save more than `in_place_bytes` against moving the rows, because they cost
    a footer, an operation and often a file.

    A compaction copies the stored blocks of a stretch of at least `copied_rows` rows, or of at
    least `copied_bytes` stored bytes in all columns. It joins smaller stretches. A compaction
    group has at most `group_rowsets` RowSets, because one epoch lists them all. It has
    about `group_rows` rows at most, because each row takes memory when a compaction changes the
    order of rows.

    A vacuum stores the names in epochs if it keeps at least `remembered_epochs` epochs after the
    floor.

    A writer gives a change up once it has lost `lost_slots` slots to concurrent writers.

    A reader holds at most `pending_epochs` epochs before it folds them, and a writer that follows
    concurrent writers holds at most `followed_epochs`.
    """

    epoch_bytes: int = 8 * 2**20
    listed_rowsets: int = 1024
    listed_bytes: int = 2**20
    victims: int = 50_000
    listed_anchors: int = 16
    inline_bytes: int = 1024
    inline_rowset_bytes: int = 2**14
    segment_rowsets: int = 16_384
    segment_inline_bytes: int = 2**20
    segment_vectors: int = 16
    root_tables: int = 16
    root_bytes: int = 2**16
    page_bytes: int = 2**14
    in_place_bytes: int = 2**14
    copied_rows: int = 2**15
    copied_bytes: int = 2**23
    group_rowsets: int = 1024
    group_rows: int = 2**26
    pending_epochs: int = 1024
    followed_epochs: int = 64
    lost_slots: int = 200
    remembered_epochs: int = 64


LIMITS = Limits()
"""The limits of every log that is not given other limits."""
