"""The change feed against the models: changes that are applied to earlier rows give later rows.

Changes are compared when their epoch appears, whenever somebody reads them, and at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from colonnade.manifests.errors import ColonnadeError
from colonnade.manifests.feed.steps import Step
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import Restore
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.feed.changes import FEED_COLUMNS, Feed
from colonnade.tableformat.scan.other_columns import table_with_nulls
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.keyed.rows import SCHEMA, as_cells
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.rows import Rows, Shape

if TYPE_CHECKING:
    from tests.simulation.oracle import Oracle

OWN = frozenset(each.name for each in FEED_COLUMNS)
GOES, COMES = ("delete", "update_preimage"), ("insert", "update_postimage")

Change = Mapping[str, Any]
"""One row of a feed. The `image` of an update has the values of all columns that were read."""

Seen = Mapping[int, tuple[Any, ...]]
"""What a reader sees of rows, by their ids: `v`, or all columns of a keyed table."""


def seen_of(table: str, rows: Rows) -> dict[int, tuple[Any, ...]]:
    """What a reader sees of the rows of a model."""
    if table in KEYED:
        return {i: _values(table, as_cells(i, row)) for i, row in rows.items()}
    return {i: (row.v,) for i, row in rows.items()}


def _values(table: str, row: Change) -> tuple[Any, ...]:
    return tuple(row[name] for name in (SCHEMA.names if table in KEYED else ("v",)))


def columns_to_read(table: str, shape: Shape) -> tuple[str, ...] | None:
    """The columns that a reader of changes asks for: all, unless there are very many rows."""
    return None if table in KEYED or shape.copies == 1 else ("id", "copy", "v")


def changes_of(table: str, found: pa.Table, shape: Shape) -> list[Change]:
    """The changes that were read, of one copy of each row. All copies must have changed alike."""
    for name, some in _sides(found):
        places = some["_row_handler"].to_numpy() + (some["_commit_version"].to_numpy() << 48)
        assert len(np.unique(places)) == len(places), f"{name} of {table} names a row twice"
    names, first = SCHEMA.names, found
    if table not in KEYED:
        names, first = ["id", "copy", "v"], found.filter(pc.equal(found["copy"], 0))
        whole = found.num_rows == shape.copies * first.num_rows
        assert whole, f"some copies of a row of {table} differ"
    changes = first.select([*names, "_change_type", "_commit_version"]).to_pylist()
    images = first.select([name for name in first.schema.names if name not in OWN])
    for row, each in enumerate(changes):
        if each["_change_type"].startswith("update"):
            each["image"] = images.take([row]).combine_chunks().to_batches()[0].serialize()
    return list(changes)


def _sides(found: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    for name, kinds in (("what goes", GOES), ("what comes", COMES)):
        yield name, found.filter(pc.is_in(found["_change_type"], pa.array(kinds)))


def by_epoch(changes: Iterable[Change]) -> list[tuple[int, list[Change]]]:
    """The changes of each epoch. The epochs must ascend."""
    found = [(k, list(some)) for k, some in groupby(changes, lambda it: it["_commit_version"])]
    epochs = [epoch for epoch, _ in found]
    assert epochs == sorted({*epochs}), f"the epochs of changes do not ascend: {epochs}"
    return found


def applied(table: str, rows: Seen, changes: Sequence[Change]) -> dict[int, tuple[Any, ...]]:
    """The rows after the changes of one epoch. What goes must be there, and what comes must not."""
    left = dict(rows)
    for each in changes:
        if each["_change_type"] in GOES:
            there = left.pop(each["id"], None)
            assert there == _values(table, each), f"{table} has {there}, and the feed {each}"
    for each in changes:
        if each["_change_type"] in COMES:
            assert each["id"] not in left, f"{table} has a row already that the feed adds: {each}"
            left[each["id"]] = _values(table, each)
    return left


def check_shape(table: str, changes: Sequence[Change], key: Sequence[str], *, whole: bool) -> None:
    """Updates are pairs of different rows, and the changes of an epoch name each key once.

    `key` are the columns of a primary key that the table has before and after. `whole` rows have
    all columns.
    """
    kinds = {kind: [c for c in changes if c["_change_type"] == kind] for kind in (*GOES, *COMES)}
    old, new = kinds["update_preimage"], kinds["update_postimage"]
    assert len(old) == len(new), f"{table} has updates that are no pairs"
    for before, after in zip(old, new, strict=True):
        same = before["image"] == after["image"]
        assert not (whole and same), f"{table} has an update that changes nothing: {after}"
        if table not in KEYED:
            assert before["id"] == after["id"], f"{table} has an update of two rows: {after}"
    if key:
        for kind in (GOES, COMES):
            keys = [tuple(c[name] for name in key) for each in kind for c in kinds[each]]
            assert len(keys) == len({*keys}), f"the feed of {table} names a key twice: {keys}"
        gone, came = ({tuple(c[n] for n in key) for c in kinds[k]} for k in ("delete", "insert"))
        assert gone.isdisjoint(came), f"the feed of {table} deletes and inserts {gone & came}"


def check_feed(
    oracle: Oracle, table: str, base: int, last: int, found: pa.Table, *, net: bool
) -> None:
    """Compare a feed from the epoch after `base` up to `last` with the models of both."""
    whole = columns_to_read(table, oracle.shape) is None
    rows = seen_of(table, oracle.states[base].get(table, {}))
    groups = by_epoch(changes_of(table, found, oracle.shape))
    assert len(groups) <= 1 or not net, f"net changes of {table} are those of several epochs"
    for epoch, changes in groups:
        assert base < epoch <= last, f"epoch {epoch} is not one of those after {base} to {last}"
        span = (base, last) if net else (epoch - 1, epoch)
        check_shape(table, changes, oracle.key_between(table, *span), whole=whole)
        rows = applied(table, rows, changes)
        if not net:
            want = seen_of(table, oracle.states[epoch][table])
            assert rows == want, f"the feed of {table} leads to {rows} at epoch {epoch}, not {want}"
    want = seen_of(table, oracle.states[last][table])
    assert rows == want, f"the feed of {table} from {base} to {last} leads to {rows}, not {want}"
    oracle.feeds += 1


def read_feed(
    database: ArrowDatabase, oracle: Oracle, table: str, base: int, last: int, *, net: bool
) -> None:
    """Read the changes of a table after one epoch up to another one, and compare them."""
    columns = columns_to_read(table, oracle.shape)
    found = database.table(table).changes(base + 1, last, columns=columns, net=net).to_arrow()
    check_feed(oracle, table, base, last, found, net=net)


def check_landed(
    oracle: Oracle, reader: LogReader, before: Snapshot, epoch: Epoch, after: Snapshot
) -> None:
    """Compare the changes of an epoch that has just appeared, in good weather.

    An epoch whose writer meant no change tells none. A row that stays is not told as a deleted one
    and a new one.
    """
    for id, table in after.tables.items():
        if table.changed_epoch != epoch.epoch:
            continue
        step, name = Step(id, before, epoch, after), table.name
        names = columns_to_read(name, oracle.shape) or table.schema.names
        shown = table_with_nulls(table)
        feed = Feed(reader, shown, shown.schema.select(names))
        try:
            batches = [part for each in feed.differences((step,)) for part in feed.rows(each)]
            found = pa.Table.from_batches(batches, feed.schema)
        except ColonnadeError as error:
            raise AssertionError(f"epoch {epoch.epoch} has no feed: {error}") from error
        if step.earlier is None:
            assert {*found["_change_type"].to_pylist()} <= {"insert"}
            want = seen_of(name, oracle.states[-1][name])
            changes = changes_of(name, found, oracle.shape)
            assert applied(name, {}, changes) == want, f"the feed does not tell all of new {name}"
            continue
        check_feed(oracle, name, epoch.epoch - 1, epoch.epoch, found, net=True)
        meant = epoch.parameters.get("userMetadata") is not None
        assert meant or not found.num_rows, f"{epoch.operation} of {name} tells changes"
        if not any(isinstance(op, Restore) for op in epoch.ops):
            _check_kept(oracle, name, found)


def _check_kept(oracle: Oracle, table: str, found: pa.Table) -> None:
    """A row that was born before and is still there is at most updated."""
    before, after = oracle.states[-2][table], oracle.states[-1][table]
    kept = {i for i in before.keys() & after.keys() if before[i].born == after[i].born}
    moved = found.filter(pc.is_in(found["_change_type"], pa.array(("delete", "insert"))))
    told = kept & {*moved["id"].to_pylist()}
    assert not told, f"the feed tells rows {told} of {table} as deleted ones and new ones"
