"""What tasks report of rows, as the jar writes it."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from pyroaring import BitMap

from colonnade.manifests.model.entries import RowSetEntry
from colonnade.tableformat.write.run import encode_entries


def encode_rows(numbers: Iterable[int]) -> str:
    """Return the numbers of rows as the base64 of a portable Roaring bitmap."""
    return base64.b64encode(BitMap(numbers).serialize()).decode()


def rows_report(entries: tuple[RowSetEntry, ...]) -> str:
    """The report of a task that has written RowSets, and did nothing else."""
    return f'{{"rowsets":{encode_entries(entries).decode()}}}'
