"""Seeds that are worth a run before all other seeds.

A seed means another run as soon as the simulation changes. So each bug of `CORPUS` also has a test
of its own. A search that finds nothing with its seed of `FOUND` tries all other seeds.
"""

from __future__ import annotations

CORPUS: tuple[tuple[int, float], ...] = (
    (54, 0.04),  # a replacement by condition lost a deletion
    (178, 0.0),  # a statement that found nothing was committed to a dropped table
    (180, 0.04),
)
"""Seeds that once found a bug, each with its rate of faults."""

FOUND: dict[str, int] = {
    "a replacement keeps what came since": 2,
    "serializable is nothing special": 3,
    "the later of two replacements of a column undoes the earlier": 3,
    "a constraint is added beside rows that were not checked": 2,
    "a deletion of keys does not say what it has read": 2,
    "a column becomes NOT NULL beside writers of NULL": 2,
    "fields inside a column are taken by their place": 1,
    "a compaction brings back the rows of a range that was deleted meanwhile": 7,
    "an update lands beside a deletion of its range": 2,
    "a restore brings back the rows of a range": 1,
    "a deletion is lost where a compaction moved the row before": 9,
    "a compaction is followed to other rows than those that it moved": 1,
    "a restore of all tables follows a change of a table that it leaves alone": 2,
    "a restore leaves properties to the columns that have now the names of theirs": 3,
    "a column comes back without its properties": 3,
    "a vacuum takes the names in a segment for those of a table that has dropped some": 7,
    "a statement takes its own files that a vacuum has removed for damage": 1,
    "rows that a compaction moved are read again after a restart": 1,
    "a trigger ends after an epoch that came while it was planned": 1,
    "a keyed write names what it wrote for an earlier slot and a vacuum has removed": 1,
}
"""The first seeds of planted mistakes that seed 0 does not find.

`python -m tests.simulation.bugs` prints the present ones.
"""
