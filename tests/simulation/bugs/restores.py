"""Mistakes after which a restore leaves another state than the one that was wanted."""

from __future__ import annotations

from colonnade.manifests.commit import conflicts
from tests.simulation.actors.undropper import Undropper
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, overlooks

BUGS: tuple[Bug, ...] = (
    Bug(
        "a restore of all tables follows a change of a table that it leaves alone",
        overlooks(conflicts, "_check_unchanged"),
        actors=(Undropper(3), Writer(6)),
        seeds=100,
    ),
)
