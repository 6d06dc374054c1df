"""Seeds that are worth a run before all other seeds.

A seed means another run as soon as the simulation changes. So each bug of `CORPUS` also has a test
of its own, and a search that begins in vain with a seed of `FOUND` tries all others.
"""

from __future__ import annotations

CORPUS: tuple[tuple[int, float], ...] = (
    (54, 0.04),  # a replacement by condition lost a deletion
    (178, 0.0),  # a statement that found nothing was committed to a dropped table
    (180, 0.04),
)
"""Seeds that once found a bug, each with its rate of faults."""

FOUND: dict[str, int] = {
    "serializable is nothing special": 8,
    "a date is believed whatever it says": 2,
    "a RowSet is taken to have the sort order of the table that it lands in": 4,
    "rows land that were planned for another column of the same name": 5,
    "fields inside a column are taken by their place": 2,
    "a compaction forgets what went meanwhile": 2,
    "the later of two replacements of a column undoes the earlier": 3,
    "a constraint is added beside rows that were not checked": 10,
    "a replacement forgets deletions": 2,
    "the default mix overlooks what came between the parts of a vacuum": 5,
    "a vacuum removes the checkpoint that the hint leads to": 9,
    "no writer looks for a mark after a PUT": 3,
}
"""The first seeds of planted mistakes that the seeds 0 and 1 do not find.

`python -m tests.simulation.bugs` prints the present ones.
"""
