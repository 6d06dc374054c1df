"""What a vacuum must know of the states of many tags, so that it need not read their anchors again.

Like a page, an anchor never changes once it is stored. States of tags share most of their objects,
so each object has one span of states instead of being listed for each state.
Spec: docs/spec/checkpoint.md#page-summaries
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import numpy as np

from colonnade.manifests.arrays.entry_block import object_ids
from colonnade.manifests.arrays.json_arrays import (
    Integers,
    decode_integers,
    decode_objects,
    encode_integers,
    encode_objects,
)
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.model.entries import Count, ObjectIdText
from colonnade.manifests.model.map_ref import IntegerArray
from colonnade.manifests.model.schema import Model


@dataclass(frozen=True, eq=False)
class StateSummary:
    """All objects that some states name. `roots` are the roots of these states.

    State i names object j only if i is at least `firsts[j]` and at most `lasts[j]`. `lengths` is
    the length of an object that a checkpoint consists of, and 0 for an object of a RowSet.
    """

    roots: tuple[str, ...]
    objects: tuple[str, ...]
    lengths: Integers
    firsts: Integers
    lasts: Integers

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StateSummary) and (
            (self.roots, self.objects) == (other.roots, other.objects)
            and np.array_equal(self.lengths, other.lengths)
            and self.spans() == other.spans()
        )

    __hash__ = None  # type: ignore[assignment]

    def of(self, roots: Collection[str]) -> StateSummary:
        """Return the summary of the states among these that have one here."""
        kept = [at for at, root in enumerate(self.roots) if root in roots]
        first = np.searchsorted(kept, self.firsts)
        last = np.searchsorted(kept, self.lasts, "right") - 1
        rows = np.flatnonzero(first <= last)
        return StateSummary(
            tuple(self.roots[at] for at in kept),
            tuple(self.objects[row] for row in rows.tolist()),
            self.lengths[rows],
            first[rows].astype(np.int64),
            last[rows].astype(np.int64),
        )

    def parts(self) -> dict[str, int]:
        """Return the objects that the checkpoints consist of, with their lengths."""
        rows = np.flatnonzero(self.lengths).tolist()
        return {self.objects[row]: int(self.lengths[row]) for row in rows}

    def spans(self) -> dict[str, tuple[int, int]]:
        """Return the first and the last state that may name an object, by object."""
        pairs = zip(self.firsts.tolist(), self.lasts.tolist(), strict=True)
        return dict(zip(self.objects, pairs, strict=True))


NO_STATES = StateSummary((), (), *(np.zeros(0, np.int64) for _ in range(3)))
"""The summary of no states."""


def summary_of(
    roots: Collection[str], spans: Mapping[str, tuple[int, int]], lengths: Mapping[str, int]
) -> StateSummary:
    """Return the summary of states with these roots. `spans` and `lengths` are by object.

    The order of the objects in `spans` and `lengths` does not matter.
    """
    objects = tuple(sorted(spans))
    return StateSummary(
        tuple(roots),
        objects,
        np.array([lengths.get(name, 0) for name in objects], np.int64),
        np.array([spans[name][0] for name in objects], np.int64),
        np.array([spans[name][1] for name in objects], np.int64),
    )


class StateSummaryRecord(Model):
    """A summary in a file."""

    roots: tuple[ObjectIdText, ...]
    count: Count
    objects: str
    lengths: IntegerArray
    firsts: IntegerArray
    lasts: IntegerArray


def encode_states(summary: StateSummary) -> StateSummaryRecord | None:
    """Write a summary. One of no states is None."""
    if not summary.roots:
        return None
    ids = np.frombuffer(bytes.fromhex("".join(summary.objects)), np.uint8)
    return StateSummaryRecord(
        roots=summary.roots,
        count=len(summary.objects),
        objects=encode_objects(ids),
        lengths=encode_integers(summary.lengths),
        firsts=encode_integers(summary.firsts),
        lasts=encode_integers(summary.lasts),
    )


def decode_states(record: StateSummaryRecord | None, name: str) -> StateSummary:
    """Read a summary. Raises CorruptionError."""
    if record is None:
        return NO_STATES
    lengths, firsts, lasts = (
        decode_integers(array, record.count, name)
        for array in (record.lengths, record.firsts, record.lasts)
    )
    wrong = (lengths < 0) | (firsts < 0) | (lasts < firsts) | (lasts >= len(record.roots))
    if wrong.any():
        raise CorruptionError(f"{name} is malformed: an object is named by no state.")
    objects = tuple(object_ids(decode_objects(record.objects, record.count, name)))
    return StateSummary(record.roots, objects, lengths, firsts, lasts)
