"""The log alone tells whether the schedule of a table lets a round compact it."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade.manifests.clock import DAY_MS
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.ids import TableId, new_transaction_id
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.operations import SetProperties
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.compaction.schedule import is_due
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.table.database import ArrowDatabase

SCHEMA = pa.schema([("id", pa.int64())])
MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
NOON_MS = 20_000 * DAY_MS + DAY_MS // 2


class Clocked:
    """Two tables, `table` and `other`, whose machine has a clock that may be `off_ms` ahead."""

    def __init__(self, schedule: str | None) -> None:
        self.now_ms = NOON_MS
        self.off_ms = 0
        self.store = MemoryStore(now_ms=lambda: self.now_ms)
        self.log = Log(self.store, clock_ms=self.clock, pause=lambda _: None)
        head = create_database(self.store, lone_table=False, clock_ms=self.clock)
        database = ArrowDatabase(self.store, self.log, head)
        properties = {} if schedule is None else {"compaction.schedule": schedule}
        self.table = database.create_table("t", SCHEMA, properties=properties)
        self.other = database.create_table("other", SCHEMA)
        self.write()

    def clock(self) -> int:
        return self.now_ms + self.off_ms

    def write(self, rowsets: int = 8) -> None:
        for _ in range(rowsets):
            self.table.append(pa.table({"id": [1, 2]}))

    def compact(self) -> None:
        assert self.table.optimize().executeCompaction().groups

    def due(self) -> bool:
        head = self.log.reader.read_head()
        return is_due(self.log, head, head.tables[TableId(self.table._state.id)])


def test_without_a_schedule_each_round_may_compact_and_with_never_none_does() -> None:
    for schedule, due in ((None, True), ("always", True), ("never", False)):
        made = Clocked(schedule)
        assert made.due() is due
        made.compact()
        assert made.due() is due


def test_one_round_in_each_window_compacts_the_table() -> None:
    made = Clocked("5 minutes")
    assert made.due(), "nothing was compacted yet"
    made.now_ms += 4 * MINUTE_MS
    made.compact()
    assert not made.due()
    made.write(20)
    assert not made.due(), "rows that were written since do not hide the compaction"
    made.now_ms = NOON_MS + 5 * MINUTE_MS - 1
    assert not made.due()
    made.now_ms += 1
    assert made.due()


def test_a_day_begins_at_midnight_utc_whenever_the_day_before_was_compacted() -> None:
    made = Clocked("1 day")
    made.now_ms = NOON_MS + DAY_MS // 2 - 1
    made.compact()
    assert not made.due()
    made.now_ms += 1
    assert made.due()


def test_a_compaction_of_another_table_does_not_count() -> None:
    made = Clocked("1 day")
    for _ in range(8):
        made.other.append(pa.table({"id": [1]}))
    assert made.other.optimize().executeCompaction().groups
    made.write(1)
    assert made.due()


def test_a_small_compaction_after_a_commit_leaves_the_schedule_alone() -> None:
    made = Clocked("1 day")
    made.table.alter(AlterProperties(set={"compaction.auto": "true"}))
    made.write(1)
    assert [entry.operation for entry in made.table.history()].count("compact") == 1
    assert made.due()


def test_a_compaction_counts_while_a_checkpoint_has_its_rowsets() -> None:
    made = Clocked("1 day")
    made.compact()
    made.write(3)
    made.log.try_checkpoint(made.log.reader.read_head())
    fresh = Log(made.log.store, clock_ms=lambda: made.now_ms)
    head = fresh.reader.read_head()
    assert head.tables[TableId(made.table._state.id)].rowsets.segments
    assert not is_due(fresh, head, head.tables[TableId(made.table._state.id)])


def test_a_compaction_that_retention_removed_or_whose_rows_are_gone_counts_no_more() -> None:
    made = Clocked("1 day")
    made.compact()
    made.write(1)
    made.now_ms += MINUTE_MS
    assert vacuum(made.log, VacuumRequest(hours=0)).epochs_removed
    assert made.due()
    made = Clocked("1 day")
    made.compact()
    made.table.delete("id > 0")
    made.write()
    assert made.due()


def test_a_machine_that_was_years_ahead_does_not_put_off_the_next_compaction() -> None:
    made = Clocked("1 hour")
    made.off_ms = 3650 * DAY_MS
    made.compact()
    assert made.log.reader.read_head().time_ms < made.now_ms + DAY_MS, (
        "the store's clock dates epochs"
    )
    made.off_ms = 0
    assert not made.due()
    made.now_ms += HOUR_MS
    assert made.due()


def test_a_log_that_is_years_ahead_is_compacted_in_each_window() -> None:
    made = Clocked("1 hour")
    made.now_ms += 3650 * DAY_MS
    made.write(1)
    made.now_ms = NOON_MS + HOUR_MS
    assert made.due()
    made.compact()
    assert made.log.reader.read_head().time_ms > made.now_ms + DAY_MS
    assert not made.due()
    made.now_ms += HOUR_MS
    assert made.due()


def test_a_machine_that_is_years_behind_compacts_in_each_window() -> None:
    made = Clocked("1 hour")
    made.compact()
    made.write()
    made.off_ms = -3650 * DAY_MS
    assert not made.due()
    made.now_ms += HOUR_MS
    made.write(1)
    assert made.due()


@pytest.mark.parametrize("text", ["1 fortnight", "5", "0 minutes", "* * * * *"])
def test_an_invalid_schedule_is_refused_when_it_is_set_and_when_it_is_met(text: str) -> None:
    made = Clocked(None)
    wrong = {"compaction.schedule": text}
    with pytest.raises(InvalidInputError, match=r"'compaction\.schedule' must be a time such as"):
        made.table.alter(AlterProperties(set=wrong))
    operation = SetProperties(table=made.table._state.id, set=wrong)
    made.log.commit(Change(new_transaction_id(), "set", (operation,)), made.log.reader.read_head())
    with pytest.raises(InvalidInputError, match=r"'compaction\.schedule' must be a time such as"):
        made.due()
