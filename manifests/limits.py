"""How much is put into one object, one epoch or one step: parameters of a log.

They decide how work is divided, never what is read: a reader reads what a writer with any limits
wrote. Whatever is divided goes wrong only where there are several parts, so tests make logs with
tiny limits.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """What a log is made with. Counts, and sizes in bytes.

    An epoch file has at most `epoch_bytes`, which must not be above the format's 8 MiB. It lists
    at most `listed_rowsets` RowSets of a table and `listed_bytes` of all, and names at most
    `victims` objects that a vacuum removes. Deletion vectors and origins of at most `inline_bytes`
    are stored in the log.

    A segment has at most `segment_rowsets` entries, and takes no further one once its inline data
    has `segment_inline_bytes`; half of either makes it one that checkpoints keep. It is written
    again once the root of a checkpoint holds newer vectors for `segment_vectors` of its RowSets.

    The root of a checkpoint holds up to `root_tables` tables itself, and more of them as long as it
    takes at most `root_bytes`. Larger maps are stored in pages of about `page_bytes`.

    A group of a compaction has at most `group_rowsets` RowSets, since all stand in one epoch, and
    about `group_rows` rows, each of which takes memory where rows change their order.

    A change is given up once it has lost `lost_slots` to other writers.

    A reader holds at most `pending_epochs` before it folds them. A vacuum puts `stubs` of them
    before it begins with the next ones: a disk syncs several nearly as fast as one.
    """

    epoch_bytes: int = 8 * 2**20
    listed_rowsets: int = 1024
    listed_bytes: int = 2**20
    victims: int = 50_000
    inline_bytes: int = 1024
    segment_rowsets: int = 16_384
    segment_inline_bytes: int = 2**20
    segment_vectors: int = 16
    root_tables: int = 16
    root_bytes: int = 2**16
    page_bytes: int = 2**14
    group_rowsets: int = 1024
    group_rows: int = 2**26
    pending_epochs: int = 1024
    lost_slots: int = 200
    stubs: int = 32


LIMITS = Limits()
"""Those of every log that nobody gives others."""
