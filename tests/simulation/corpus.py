"""Seeds that once found a bug; they run before all other seeds.

Each is the seed and the rate of faults. Each bug also has a test of its own, because a seed
means another run as soon as the simulation changes.
"""

from __future__ import annotations

CORPUS: tuple[tuple[int, float], ...] = (
    (54, 0.04),  # a replacement by condition lost a deletion
    (178, 0.0),  # a statement that found nothing was committed to a dropped table
    (180, 0.04),
)
