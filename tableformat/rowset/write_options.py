"""Options for how RowSets are cut, sized and placed."""

from __future__ import annotations

from dataclasses import dataclass

from colonnade.manifests.limits import LIMITS

KIB = 2**10
MIB = 2**20
_PACKED_COLUMNS = 64


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """The choices of a writer. Readers understand every choice.

    `target_bytes` is the stored size at which a RowSet ends. `max_records` is the most rows of a
    RowSet (None: no limit). `block_rows` is the number of rows between two cuts. A cut comes
    earlier if these rows have more than `cut_bytes` decoded bytes, because readers decode whole
    stretches. A block of several rows has at most `block_bytes` decoded bytes.

    RowSets of at most `inline_bytes` stored bytes are stored in the log, and RowSets of at most
    `packed_bytes` in one object. A RowSet of many columns may have `packed_bytes` for every 64
    columns, since each file costs a wait for the disk. Larger ones become a directory where files
    are cheap, and one object elsewhere. `one_object` replaces this choice of the store.

    A RowSet of more columns than `open_files` waits on local disk, because each column has a file.
    A task writes RowSets of at most `open_partitions` partitions at the same time, which together
    keep about `open_files` files open.

    With a sort key, rows are collected up to `run_bytes` decoded bytes and sorted.
    `indexed_columns` are the ids of columns whose statistics the log keeps. `bloom_columns` are the
    ids of columns whose blocks get Bloom filters.
    """

    target_bytes: int = 128 * MIB
    max_records: int | None = None
    block_rows: int = 65_536
    cut_bytes: int = 32 * MIB
    block_bytes: int = 8 * MIB
    packed_bytes: int = 4 * MIB
    one_object: bool | None = None
    inline_bytes: int = LIMITS.inline_rowset_bytes
    run_bytes: int = 256 * 10**6
    open_files: int = 256
    open_partitions: int = 16
    sync: bool = True
    indexed_columns: frozenset[int] = frozenset()
    bloom_columns: frozenset[int] = frozenset()

    def partition_limit(self, columns: int) -> int:
        """Return the most partitions whose RowSets a task writes at the same time, at least one."""
        return max(1, min(self.open_partitions, self.open_files // columns))

    def packed_limit(self, columns: int) -> int:
        """Return the most stored bytes that wait in memory for the end of their RowSet."""
        return self.packed_bytes * max(1, columns // _PACKED_COLUMNS)
