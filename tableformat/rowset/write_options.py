"""How RowSets are cut, sized and placed."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.limits import LIMITS

KIB = 2**10
MIB = 2**20
_PACKED_COLUMNS = 64


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a writer may choose; readers understand every choice.

    `target_bytes` is the stored size at which a RowSet ends, `max_records` the most rows that it
    gets (None: no limit). `block_rows` is the distance of cuts; rows of more than `cut_bytes`
    decoded are cut earlier, because readers decode whole stretches. `block_bytes` bounds a decoded
    block of more than one row. RowSets of at most `inline_bytes` stored bytes live in the log,
    those of at most `packed_bytes` in one object, larger ones in a directory. A RowSet of more
    columns may have as much for every 64 of them, since each file costs a wait for the disk.
    Deletion vectors and origins of at most `inline_vector_bytes` live in the log. `run_bytes` is
    the decoded size up to which rows are collected to be sorted. `indexed_columns` are the ids
    whose statistics the log keeps, `bloom_columns` those whose blocks get Bloom filters.
    """

    target_bytes: int = 128 * MIB
    max_records: int | None = None
    block_rows: int = 65_536
    cut_bytes: int = 32 * MIB
    block_bytes: int = 8 * MIB
    packed_bytes: int = 4 * MIB
    inline_bytes: int = 16 * KIB
    inline_vector_bytes: int = LIMITS.inline_bytes
    run_bytes: int = 256 * 10**6
    sync: bool = True
    indexed_columns: frozenset[int] = frozenset()
    bloom_columns: frozenset[int] = frozenset()

    def packed_limit(self, columns: int) -> int:
        """The most stored bytes of a RowSet of so many columns that is one object."""
        return self.packed_bytes * max(1, columns // _PACKED_COLUMNS)
