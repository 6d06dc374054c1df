"""Seeds that found something once; they run before all others.

Each is the seed and the rate of faults. What they found is told by tests of its own too, since a
seed means another run as soon as the simulation changes.
"""

from __future__ import annotations

CORPUS: tuple[tuple[int, float], ...] = (
    (54, 0.04),  # a replacement by condition lost a deletion
    (178, 0.0),  # a statement that found nothing was committed to a dropped table
    (180, 0.04),
)
