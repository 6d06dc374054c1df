"""Mistakes that lose or invent values where columns change beside concurrent writers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from colonnade.manifests.commit import column_conflicts
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.location import Location
from colonnade.tableformat.rowset import adapt
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.statements.columns import assignments
from colonnade.tableformat.statements.columns.fill import Fill
from colonnade.tableformat.table import writes
from colonnade.tableformat.table.alteration import commit as alteration_commit
from colonnade.tableformat.table.evolution.fit_rows import UnknownColumns, fit_rows
from colonnade.tableformat.types import conform
from colonnade.tableformat.write import job
from colonnade.tableformat.write.identity import LogDraws, OwnDraws
from tests.simulation.actors.appender import Appender
from tests.simulation.actors.bringer import Bringer
from tests.simulation.actors.driver import Driver
from tests.simulation.actors.evolver import Evolver
from tests.simulation.actors.filler import Filler
from tests.simulation.actors.reader import Reader
from tests.simulation.actors.replacer import Replacer
from tests.simulation.actors.tightener import Tightener
from tests.simulation.actors.writer import Writer
from tests.simulation.bugs.bug import Bug

ALTERED = (Writer(mix=(8, 1, 1, 0, 0, 0)), Evolver(4), Reader(4))

MADE = (Replacer(2), Writer(mix=(6, 1, 4, 2, 0, 0)), Appender(2), Reader(4))

BROUGHT = (Bringer(8), Evolver(2), Reader(1))

TIGHTENED = (Writer(mix=(6, 1, 3, 0, 0, 0)), Tightener(6), Driver(4), Reader(1))


def _without_initial_value(column: StoredColumn, rows: int) -> pa.Array:
    return pa.nulls(rows, column.type)


def _without_default(column: SchemaField, rows: int) -> pa.Array:
    return pa.nulls(rows)


def _only_known_rowsets(fill: Fill, head: Snapshot) -> Any:
    """The values of the RowSets that were there when the fill was sent first."""
    view = fill._view(head)
    known = view.of(each for each in view.rowsets if fill._key(each) in fill._filled)
    with patch.object(fill, "_view", lambda head: known):
        return _really_fill(fill, head)


_really_fill = Fill.fill


def _left_out(
    log: Log,
    location: Location,
    base: Snapshot,
    batches: Iterable[pa.RecordBatch],
    unknown: UnknownColumns,
    *others: Any,
) -> tuple[Snapshot, Iterator[pa.RecordBatch]]:
    """Rows without the columns that their table does not have."""
    return _really_fit(log, location, base, batches, UnknownColumns(ignore=True), *others)


_really_fit = fit_rows


def _drawn_without_the_log(draws: LogDraws, column: SchemaField, count: int) -> range:
    """The next values of the state that a writer knows, which other writers take, too."""
    return OwnDraws(draws._state.tables[draws._table]).draw(column, count)


BUGS: tuple[Bug, ...] = (
    Bug(
        "earlier rows are NULL in a column with a default",
        lambda: patch.object(adapt, "absent_values", _without_initial_value),
        actors=ALTERED,
        seeds=50,
    ),
    Bug(
        "rows that leave a column out are NULL in it",
        lambda: patch.object(conform, "default_values", _without_default),
        actors=ALTERED,
        seeds=50,
    ),
    Bug(
        "rows land that were planned for another column of the same name",
        lambda: patch.object(column_conflicts, "same_by_name", lambda written, current: True),
        actors=(Driver(3), Evolver(10)),
        seeds=50,
    ),
    Bug(
        "a fill forgets RowSets that were added meanwhile",
        lambda: patch.object(Fill, "fill", _only_known_rowsets),
        actors=(Writer(mix=(8, 0, 1, 0, 0, 0)), Filler(4)),
        seeds=50,
        long=True,
    ),
    Bug(
        "a fill keeps values that were computed from replaced ones",
        lambda: patch.object(Fill, "_key", lambda fill, rowset: (rowset.entry.object,)),
        actors=(Writer(mix=(4, 1, 8, 0, 0, 0)), Filler(6), Evolver(1), Reader(1)),
        long=True,
        seeds=50,
    ),
    Bug(
        "a column becomes NOT NULL beside writers of NULL",
        lambda: patch.object(alteration_commit, "reads_of", lambda *_: ()),
        actors=TIGHTENED,
        seeds=50,
    ),
    Bug(
        "rows land that were planned before their column was NOT NULL",
        lambda: patch.object(column_conflicts, "rows_fit", lambda written, current: True),
        actors=TIGHTENED,
        seeds=50,
    ),
    Bug(
        "the columns of a table that replaces another one get ids of other columns",
        lambda: patch.object(job, "with_kept_ids", lambda design, before: design),
        actors=(Writer(4), Evolver(4), Replacer(4)),
        seeds=50,
    ),
    Bug(
        "an update leaves a generated column behind",
        lambda: patch.object(assignments, "bind_generations", lambda table, schema: ()),
        actors=MADE,
        seeds=50,
        long=True,
    ),
    Bug(
        "two writers take the same values of an identity column",
        lambda: patch.object(LogDraws, "draw", _drawn_without_the_log),
        actors=MADE,
        seeds=50,
    ),
    Bug(
        "rows lose the columns that they bring",
        lambda: patch.object(writes, "fit_rows", _left_out),
        actors=BROUGHT,
        seeds=50,
    ),
)
