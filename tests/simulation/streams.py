"""Streams that follow tables, as queries of Spark do, against the models of all epochs.

A query keeps a checkpoint: where each batch ends is noted before the batch runs, and that it is
done afterwards. So a batch runs again after a kill, and must bring the same rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from colonnade.manifests.model.operations import Restore
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.feed.images import AFTER, BEFORE, DELETE, INSERT
from colonnade.tableformat.feed.tasks import FeedTask, RowsTask
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.offsets import Offset, Place, parse_offset
from colonnade.tableformat.streams.pieces import Piece, joined
from colonnade.tableformat.streams.source import StoppedError, StreamRules, TableStream, Trigger
from colonnade.tableformat.types.arrow_types import arrow_schema
from colonnade.tableformat.types.same_values import same_values
from tests.simulation.feeds import Change, Seen, applied, seen_of
from tests.simulation.keyed.rows import SCHEMA
from tests.simulation.keyed.rows import TABLES as KEYED

if TYPE_CHECKING:
    from tests.simulation.oracle import Oracle


@dataclass
class Run:
    """What the process of a query remembers between its calls.

    `shown` is the table when the query was started. The planner has the states `known`, by epoch,
    and the pieces of a trigger that was `found` and is not planned yet, by start and end. With
    `until_now`, the run ends with the epoch `last` that its first trigger sees.
    """

    store: ObjectStore
    shown: TableState
    until_now: bool
    last: int | None = None
    known: dict[int, Snapshot] = field(default_factory=dict)
    found: dict[tuple[str | None, str], Sequence[Piece]] = field(default_factory=dict)


@dataclass
class Query:
    """One query, and its checkpoint.

    `ends` are the offsets that were noted before each batch, and the first `done` batches were
    noted as done. `batches` has the rows of each batch that has reached the sink, and `rows` those
    of each epoch.
    """

    name: str
    table: str
    id: str
    rules: StreamRules
    start: str | int | None
    ends: list[str] = field(default_factory=list)
    done: int = 0
    batches: list[Sequence[Change]] = field(default_factory=list)
    rows: dict[int, list[Change]] = field(default_factory=lambda: defaultdict(list))
    run: Run | None = None
    is_busy: bool = False

    @property
    def noted(self) -> str | None:
        """Where the batches that are done end; None: the stream has just begun."""
        return self.ends[self.done - 1] if self.done else None

    @contextmanager
    def taken(self) -> Iterator[None]:
        """A block in which no other process runs the query."""
        self.is_busy = True
        try:
            yield
        finally:
            self.is_busy = False


@dataclass
class Streams:
    """All queries. `batches` have reached a sink, and the `repeated` ones of them did so before."""

    queries: list[Query] = field(default_factory=list)
    batches: int = 0
    repeated: int = 0
    begun: int = 0


def rows_of(source: TableStream, pieces: Sequence[Piece]) -> list[Change]:
    """Read the rows of pieces, as tasks do."""
    feed, found = source.feed(), list[Change]()
    names = SCHEMA.names if source.shown.name in KEYED else ["id", "v"]
    for each in joined(pieces):
        for task in each.tasks:
            for kind, rows in _images(source.reader.store, task):
                for row in rows.select(names).to_pylist():
                    about = {"_change_type": feed.name_of(kind), "_commit_version": each.version}
                    found.append({**row, **about})
    return found


def _images(store: ObjectStore, task: FeedTask) -> Iterator[tuple[str, pa.Table]]:
    if isinstance(task, RowsTask):
        yield task.change, _read(store, task.plan)
        return
    before, after = _read(store, task.before), _read(store, task.after)
    if task.order is not None:
        after = after.take(pa.array(task.order))
    assert len(before) == len(after), "a task of updates has rows without their partners"
    same = np.ones(len(before), np.bool_)
    for name in task.compared:
        was, now = (each[name].combine_chunks() for each in (before, after))
        same &= same_values(now, was)
    changed = pa.array(np.flatnonzero(~same))
    yield BEFORE, before.take(changed)
    yield AFTER, after.take(changed)


def _read(store: ObjectStore, plan: ScanPlan) -> pa.Table:
    schema = arrow_schema(plan.output_schema)
    return pa.Table.from_batches(read_plan(store, plan) if plan.rowsets else (), schema)


def check_trigger(
    source: TableStream, head: Snapshot, begin: Offset, limits: Limits, last: int, found: Trigger
) -> None:
    """A trigger has as many pieces as fit, and at least one if there is one."""
    end, pieces = found.end.place, found.pieces
    assert end >= begin.place, f"a trigger goes back from {begin} to {found.end}"
    if len(pieces) > 1:
        assert not _exceed(limits, pieces), f"a trigger of {len(pieces)} exceeds {limits}"
    if end >= Place(last + 1):
        return
    try:
        beyond = next(source.pieces(head, found.end, last), None)
    except StoppedError:
        return
    if beyond is not None:
        full = pieces and _exceed(limits, (*pieces, beyond))
        assert full, f"a trigger from {begin} to {found.end} has not reached {limits}"


def _exceed(limits: Limits, pieces: Sequence[Piece]) -> bool:
    files = len({number for each in pieces for number in each.files})
    size, rows = sum(each.bytes for each in pieces), sum(each.rows for each in pieces)
    counts = ((limits.files, files), (limits.bytes, size), (limits.rows, rows))
    return any(most is not None and count > most for most, count in counts)


def receive(oracle: Oracle, query: Query, number: int, rows: Sequence[Change]) -> bool:
    """A batch reaches the sink. Returns whether it does so for the first time.

    Raises AssertionError unless each row is one that the model has, and comes once.
    """
    end = parse_offset(query.ends[number])
    begin = parse_offset(query.ends[number - 1]) if number else end.beginning()
    if number < len(query.batches):
        told, again = (sorted(map(repr, each)) for each in (query.batches[number], rows))
        assert told == again, f"batch {number} of {query.name} is {again} now, and was {told}"
        return False
    query.batches.append(rows)
    for each in rows:
        epoch, kind = each["_commit_version"], each["_change_type"]
        assert query.rules.updates or kind in (INSERT, DELETE), f"{query.name} has {each}"
        assert begin.epoch <= epoch <= end.epoch, f"{query.name} read {epoch} before {end}"
        query.rows[epoch].append(each)
    check_read(oracle, query, begin, end.epoch - 1)
    if end.place > Place(end.epoch):
        _check_epoch(oracle, query, end, whole=False)
    else:
        assert not query.rows[end.epoch], f"{query.name} has rows of {end}, which is not read"
    return True


def check_read(oracle: Oracle, query: Query, begin: Offset, last: int) -> None:
    """A query has all rows from an offset on up to an epoch."""
    for epoch in range(begin.epoch, last + 1):
        _check_epoch(oracle, query, begin.model_copy(update={"epoch": epoch}), whole=True)


def _check_epoch(oracle: Oracle, query: Query, at: Offset, *, whole: bool) -> None:
    """Compare what a query has of one epoch with the model; without `whole`, it has a part."""
    epoch, changes = at.epoch, query.rows[at.epoch]
    here, there = (_rows_at(oracle, query, number) for number in (epoch, epoch - 1))
    if at.in_snapshot:
        there = {}
    what = f"{query.name} of {query.table} from {query.start} has {changes} of epoch {epoch}"
    if query.rules.changes or at.in_snapshot:
        after = applied(query.table, there, changes)
        if whole:
            assert after == here, f"{what}, which leads to {after}, and not {here}"
        else:
            assert after.items() <= here.items(), f"{what}, which leads to {after}, not {here}"
        return
    told = _Told.of(oracle, query, epoch)
    ids = [each["id"] for each in changes]
    assert len({*ids}) == len(ids), f"{what}: rows come twice"
    assert {each["_change_type"] for each in changes} <= {INSERT}, what
    assert {*ids} <= told.may, f"{what}, and not of {told}"
    assert all((each["v"],) == here[each["id"]] for each in changes), f"{what}, and not {here}"
    if whole:
        assert told.must <= {*ids}, f"{what}, and not {told}"
        assert not told.stops, f"{what}, where it should have stopped: {told}"


def _rows_at(oracle: Oracle, query: Query, epoch: int) -> Seen:
    """The rows that the table of a query has at an epoch."""
    return seen_of(query.table, oracle.states[epoch].get(query.table, {})) if epoch >= 0 else {}


@dataclass(frozen=True)
class _Told:
    """What a stream of inserted rows shows of an epoch: the ids that it `must` and `may` show.

    `stops` says whether the stream must stop there, and `goes_on` whether it must not.
    """

    must: frozenset[int]
    may: frozenset[int]
    stops: bool = False
    goes_on: bool = False

    @classmethod
    def of(cls, oracle: Oracle, query: Query, epoch: int) -> _Told:
        rules, name = query.rules, query.table
        before = oracle.states[epoch - 1].get(name, {}) if epoch else {}
        after = oracle.states[epoch].get(name, {})
        kept = {i for i in before.keys() & after.keys() if before[i].born == after[i].born}
        new, gone = frozenset(after.keys() - kept), before.keys() - kept
        wrote = {i for i in kept if before[i] != after[i]}
        changed = {i for i in wrote if before[i].v != after[i].v}
        ops = oracle.epochs[epoch].ops
        if any(isinstance(op, Restore) and op.table == query.id for op in ops):
            # Rows that are in both states may leave, and come back.
            return cls(frozenset(), frozenset(after))
        only_inserts, certain = not (gone or wrote), bool(gone or changed)
        if rules.skip_changes:
            none = frozenset[int]()
            return cls(new if only_inserts else none, none if certain else new, goes_on=True)
        if rules.ignore_changes:
            return cls(new | changed, frozenset(after) if wrote else new, goes_on=True)
        passes = rules.ignore_deletes and not (new or wrote)
        return cls(new, new, certain and not passes, only_inserts or passes)


def check_stopped(oracle: Oracle, query: Query, begin: Offset, error: StoppedError) -> None:
    """A query stops only at an epoch that stops it, once it has all rows before."""
    assert not query.rules.changes, f"{query.name} stopped: {error}"
    check_read(oracle, query, begin, error.epoch - 1)
    told = _Told.of(oracle, query, error.epoch)
    assert not told.goes_on, f"{query.name} stopped at epoch {error.epoch}, which is {told}"


def has_lost(oracle: Oracle, begin: Offset) -> bool:
    """Whether retention has removed an epoch that a stream goes on with."""
    return oracle.floor > begin.epoch - (not begin.in_snapshot)


def is_there(oracle: Oracle, query: Query, begin: Offset) -> bool:
    """Whether the table of a query was there ever since an epoch."""
    since = oracle.columns[min(begin.epoch, oracle.head) :]
    found = [each.get(query.table) for each in since]
    return all(each is not None and each.table == query.id for each in found)
