"""How small limits are in a run, and in which form its RowSets are stored."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from colonnade.manifests.limits import LIMITS, Limits


def draw_limits(order: random.Random) -> Limits:
    """Tiny limits, so that whatever can be divided is; each is the usual one in some runs."""
    tiny = {
        "epoch_bytes": 2**16,
        "listed_rowsets": order.choice((0, 1)),
        "listed_bytes": 1000,
        "inline_bytes": 0,
        "segment_rowsets": order.choice((1, 2, 6)),
        "segment_inline_bytes": 500,
        "segment_vectors": order.choice((0, 1)),
        "group_rowsets": order.choice((2, 3)),
        "group_rows": 4,
        "pending_epochs": 1,
    }
    chosen = {name: limit for name, limit in tiny.items() if order.random() < 0.7}
    # In some runs tables and batches lie outside the root of a checkpoint, and batches that a table
    # brings along lie outside the epoch.
    paged = {"root_tables": 0, "root_bytes": 0, "page_bytes": 20, "listed_bytes": 50}
    chosen |= paged if order.random() < 0.7 else {}
    chosen |= {"followed_epochs": 3} if "pending_epochs" in chosen else {}
    # Vacuums that remove few objects in a part also list few anchors in an epoch.
    victims = order.choice((2, 2, 3, 8))
    listed = {2: 0, 3: 1}.get(victims, LIMITS.listed_anchors)
    return replace(LIMITS, victims=victims, listed_anchors=listed, **chosen)


FORMS: dict[int, dict[str, Any]] = {
    3: {"packed_bytes": 0, "one_object": False},
    6: {"packed_bytes": 0, "one_object": True},
}
"""How large RowSets are stored, by the remainder of a seed."""
