"""Choose which segments a new checkpoint keeps, and which it rewrites. Pure.

Spec: docs/spec/checkpoint.md
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.limits import Limits
from colonnade.manifests.state.snapshot import EntrySegmentRef, RowSets

_ENTRY_BYTES = 128


def touched_segments(rowsets: RowSets) -> tuple[EntrySegmentRef, ...]:
    """Return the segments in whose range of ids a RowSet was dropped or changed since."""
    return tuple(
        ref
        for ref in rowsets.segments
        if any(a <= ref.last_id and ref.first_id <= b for a, b in rowsets.dropped)
        or any(map(ref.holds, rowsets.amended))
    )


def is_worth_keeping(ref: EntrySegmentRef, dropped: int, replaced: int, limits: Limits) -> bool:
    """Return whether a checkpoint keeps a segment although some of its RowSets were changed.

    `dropped` counts its dropped RowSets, `replaced` those with a newer deletion vector.
    """
    few = 8 * dropped <= ref.segment.rowset_count and replaced <= limits.segment_vectors
    return _is_large(ref, limits) and few


def plan_merge(
    untouched: Iterable[EntrySegmentRef], gathered: int, limits: Limits
) -> tuple[EntrySegmentRef, ...]:
    """Choose small segments to rewrite together with `gathered` entries that are written anyway.

    A segment is chosen if it has at most twice as many entries as were gathered before it. Each
    entry is therefore rewritten only a logarithmic number of times. Returns nothing if `gathered`
    is 0.
    """
    chosen = []
    small = (ref for ref in untouched if not _is_large(ref, limits))
    for ref in sorted(small, key=lambda r: (r.segment.rowset_count, r.first_id)):
        if ref.segment.rowset_count > 2 * gathered:
            break
        chosen.append(ref)
        gathered += ref.segment.rowset_count
    return tuple(chosen)


def _is_large(ref: EntrySegmentRef, limits: Limits) -> bool:
    """Return whether a segment has reached half of a limit, so that checkpoints keep it."""
    inline = ref.segment.check.length - _ENTRY_BYTES * ref.segment.rowset_count
    many = 2 * ref.segment.rowset_count >= limits.segment_rowsets
    return many or 2 * inline >= limits.segment_inline_bytes
