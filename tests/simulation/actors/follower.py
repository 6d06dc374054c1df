"""Runs queries that read a table as a stream, and that are killed between any two calls."""

from __future__ import annotations

import random
from contextlib import suppress
from dataclasses import dataclass, replace

from colonnade.manifests.errors import ColonnadeError, CorruptionError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.scan.other_columns import table_with_nulls
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.leases import lease_name, renew_lease
from colonnade.tableformat.streams.offsets import Offset, parse_offset
from colonnade.tableformat.streams.source import StoppedError, StreamRules, TableStream
from colonnade.tableformat.streams.start import LATEST, first_offset
from colonnade.tableformat.table.database import ArrowDatabase
from tests.simulation.keyed.rows import TABLES as KEYED
from tests.simulation.streams import (
    Query,
    Run,
    check_read,
    check_stopped,
    check_trigger,
    has_lost,
    is_there,
    receive,
    rows_of,
)
from tests.simulation.world import World

MOST = 3
"""So many queries run at once."""

KILLS = 0.06
"""How often the driver of a query is killed between two of its calls."""

RESTARTS = 0.3
"""How often the planner is new that a query calls. The query goes on."""


@dataclass(frozen=True)
class Follower:
    """Runs some batches of one query, of which another process may have run the last one.

    In a share `leases` of the batches the stream takes a lease. In the others, it may not write.
    """

    weight: float = 6.0
    leases: float = 0.2

    def act(self, database: ArrowDatabase, world: World, order: random.Random) -> None:
        """Run up to three batches of a query, or begin one."""
        if world.shape.copies > 1:  # It would take long to read all columns of so many rows.
            return
        queries = world.streams.queries
        idle = [each for each in queries if not each.is_busy]
        if len(queries) < MOST and (not idle or order.random() < 0.2):
            idle = [_new_query(database, world, order)]
        if not idle:
            return
        query = order.choice(idle)
        with query.taken():
            process = _Process(database, world, order, query, self.leases)
            for _ in range(order.randint(1, 3)):
                if not process.runs_batch():
                    return


def _new_query(database: ArrowDatabase, world: World, order: random.Random) -> Query:
    """Begin a query of any table, with any options, that starts anywhere."""
    head = database._refresh()
    table = order.choice(sorted(head.tables.values(), key=lambda each: each.name))
    changes = table.name in KEYED or order.random() < 0.4
    names = ("ignore_deletes", "ignore_changes", "skip_changes")
    ignored = {} if changes else {name: True for name in names if order.random() < 0.4}
    rules = StreamRules(changes=changes, updates=order.random() < 0.7, **ignored)
    epoch = order.randint(max(head.floor, table.created_epoch), head.epoch)
    start = order.choice((None, None, LATEST, epoch))
    world.streams.begun += 1
    query = Query(f"s{world.streams.begun}", table.name, table.id, rules, start)
    world.streams.queries.append(query)
    return query


@dataclass(frozen=True)
class _Process:
    """A process that runs a query, as Spark's driver and the planner do it together."""

    database: ArrowDatabase
    world: World
    order: random.Random
    query: Query
    leases: float

    def runs_batch(self) -> bool:
        """Run a batch, and return whether the query can go on at once.

        A query that cannot go on at all is given up, and the reason must be a good one.
        """
        query, oracle, mended = self.query, self.world.oracle, self.world.mended
        head = self.database._refresh()
        run = self._started(head)
        begin = self._begin(run, head) if run else None
        if run is None or begin is None:
            self.world.streams.queries.remove(query)
            return False
        try:
            return self._runs_batch(run)
        except StoppedError as error:
            check_stopped(oracle, query, begin, error)
        except NotFoundError as error:
            if not has_lost(oracle, begin) and is_there(oracle, query, begin):
                raise AssertionError(f"what {query.name} has not read is kept") from error
        except CorruptionError as error:
            if not has_lost(oracle, begin) and self.world.losses == mended:
                raise AssertionError(f"what {query.name} reads is damaged") from error
        self.world.streams.queries.remove(query)
        return False

    def _started(self, head: Snapshot) -> Run | None:
        """The run of the query in this process, perhaps a new one; None without its table."""
        store, run = self.database._log.store, self.query.run
        if run is None or run.store is not store or self.order.random() < KILLS:
            table = head.tables.get(TableId(self.query.id))
            if table is None:
                return None
            shown = replace(table_with_nulls(table), changed_epoch=head.epoch)
            run = self.query.run = Run(store, shown, self.order.random() < 0.2)
        return run

    def _begin(self, run: Run, head: Snapshot) -> Offset | None:
        """Where the next batch begins; None if the epoch is removed that the query starts with."""
        query = self.query
        if query.noted is not None:
            return parse_offset(query.noted)
        if query.ends:
            return parse_offset(query.ends[0]).beginning()
        try:
            return first_offset(self.database._log, head, run.shown, query.start)
        except NotFoundError as error:
            if not isinstance(query.start, int) or query.start > self.world.oracle.floor:
                raise AssertionError(f"the start of {query.name} is kept") from error
            return None

    def _source(self, run: Run, head: Snapshot, begin: Offset) -> TableStream:
        """The stream as the planner has it, which may have begun anew since the last call."""
        if self.order.random() < RESTARTS:
            run.known.clear()
            run.found.clear()
        known = run.known.get(begin.epoch - (not begin.in_snapshot))
        run.known[head.epoch] = head
        return TableStream(self.database._log.reader, run.shown, self.query.rules, known)

    def _runs_batch(self, run: Run) -> bool:
        query, order, streams = self.query, self.order, self.world.streams
        number = query.done
        if number == len(query.ends) and not self._notes_batch(run):
            return False
        head, end = self.database._refresh(), parse_offset(query.ends[number])
        begin = parse_offset(query.noted) if query.noted else end.beginning()
        source = self._source(run, head, begin)
        if order.random() < self.leases:
            with suppress(ColonnadeError):
                renew_lease(self.database._log, head, run.shown, lease_name(query.name), begin)
        found = run.found.pop((query.noted, query.ends[number]), None)
        rows = rows_of(source, [*source.between(head, begin, end)] if found is None else found)
        if self._is_killed():
            return False
        streams.batches += 1
        streams.repeated += not receive(self.world.oracle, query, number, rows)
        if self._is_killed():
            return False
        query.done += 1
        return True

    def _notes_batch(self, run: Run) -> bool:
        """Find where the next batch ends, and note it. Returns whether there is one."""
        query, order, head = self.query, self.order, self.database._refresh()
        begin = self._begin(run, head)
        if begin is None:
            return False
        source = self._source(run, head, begin)
        if run.until_now and run.last is None:
            run.last = head.epoch
        last = head.epoch if run.last is None else min(run.last, head.epoch)
        most = ((None, 1, 2), (None, 1, 2000), (None, 1, 6))
        limits = Limits(*map(order.choice, most))
        found = source.trigger(head, begin, limits, last)
        if order.random() < 0.5:
            check_trigger(source, head, begin, limits, last, found)
        end = found.end.to_json()
        run.found[query.noted, end] = found.pieces
        if self._is_killed():
            return False
        if end == query.noted:
            check_read(self.world.oracle, query, begin, last)
            if run.until_now:
                query.run = None
            return False
        query.ends.append(end)
        return not self._is_killed()

    def _is_killed(self) -> bool:
        """Kill the query now and then, which another process then runs."""
        if self.order.random() >= KILLS:
            return False
        self.query.run = None
        return True
