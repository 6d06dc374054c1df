"""Mistakes after which a restore leaves another state than the one that was wanted."""

from __future__ import annotations

from unittest.mock import patch

from colonnade.manifests.commit import conflicts
from colonnade.manifests.model.columns.properties import (
    by_id,
    by_name,
    column_of,
    divided,
    is_sequence,
)
from colonnade.manifests.state.snapshot import TableState
from colonnade.tableformat.table.epochs import restore
from tests.simulation.actors.evolver import Evolver
from tests.simulation.actors.keeper import Keeper
from tests.simulation.actors.namer import Namer
from tests.simulation.actors.undropper import Undropper
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug, overlooks

NAMED = (Namer(6), Evolver(5), Keeper(6), Undropper(2), Writer(1))


def _by_the_later_names(last: TableState, then: TableState) -> dict[str, str]:
    """The properties of the columns that have now the names which others had before."""
    names = {*then.schema.names}
    named = by_name(last.stored_properties, last.schema)
    kept = {
        name: text
        for name, text in named.items()
        if {column_of(name), text if is_sequence(name) else None} <= {None, *names}
    }
    return by_id(kept, then.schema)


def _without_those_that_come_back(last: TableState, then: TableState) -> dict[str, str]:
    """The properties of the columns that the table has at the moment."""
    _, gone = divided(last.stored_properties, then.schema.fields)
    return {name: text for name, text in last.stored_properties.items() if name not in gone}


BUGS: tuple[Bug, ...] = (
    Bug(
        "a restore of all tables follows a change of a table that it leaves alone",
        overlooks(conflicts, "_check_unchanged"),
        actors=(Undropper(3), Writer(6)),
        seeds=100,
    ),
    Bug(
        "a restore leaves properties to the columns that have now the names of theirs",
        lambda: patch.object(restore, "restored_properties", _by_the_later_names),
        actors=NAMED,
        seeds=100,
    ),
    Bug(
        "a column comes back without its properties",
        lambda: patch.object(restore, "restored_properties", _without_those_that_come_back),
        actors=NAMED,
        seeds=100,
    ),
)
