"""`table.optimize()` beside writers and other compactions."""

from __future__ import annotations

import json

import pytest

from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.errors import (
    CorruptionError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.model.schema import ArrayType, SchemaField
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.compaction import lease
from colonnade.tableformat.table.alteration import AddColumn, AlterProperties
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import (
    content,
    filled,
    live,
    rows,
)
from tests.tableformat.compaction.beside import run_beside


def test_small_rowsets_become_one_and_history_says_why() -> None:
    table = filled()
    table.delete("id < 5")
    before = content(table)
    plan = table.optimize().plan()
    report = table.optimize().executeCompaction()
    assert content(table) == before
    [rowset] = live(table)
    assert rowset.entry.rows == 85
    assert rowset.vector is None
    newest = table.history(1)[0]
    assert newest.operation == "compact"
    assert newest.parameters == {"kind": plan.groups[0].kind, "reason": plan.groups[0].reason}
    assert newest.metrics == {
        "rowsets_removed": 9,
        "rowsets_added": 1,
        "rows_dropped": 5,
        "bytes_read": plan.bytes_in,
        "bytes_copied": 0,
        "bytes_written": rowset.entry.bytes,
    }
    assert (report.groups, report.epoch) == (1, table.epoch)
    assert str(report).startswith("t: 9 RowSets became 1 in 1 groups; 5 deleted rows dropped")
    again = table.optimize().executeCompaction()
    assert again.groups == 0
    assert str(again).startswith("t: nothing to compact: of 1 RowSets, fewer than 8 of a partition")


def test_the_history_shows_the_condition_and_the_order_that_were_asked_for() -> None:
    table = filled()
    name = table.schema.names[0]
    table.optimize("id >= 0").where("id < 500").executeZOrderBy(name)
    asked = table.history(1)[0].parameters
    assert asked["where"] == "(id >= 0) AND (id < 500)"
    assert json.loads(asked["zorder_by"]) == [name]
    table.optimize("id >= " + "0" * 3000).executeZOrderBy(name)
    assert len(table.history(1)[0].parameters["where"]) == 2000


def test_properties_and_options_say_what_is_compacted() -> None:
    table = filled(3)
    assert not table.optimize().plan().groups
    assert len(table.optimize().option("min-rowsets", 2).plan().groups) == 1
    table.alter(AlterProperties(set={"compaction.min-rowsets": "3"}))
    assert len(table.optimize().plan().groups) == 1
    assert not table.optimize().option("compaction.min-rowsets", "4").plan().groups
    with pytest.raises(
        InvalidInputError, match=r"'compaction\.min-rowsets' must be a whole number"
    ):
        table.alter(AlterProperties(set={"compaction.min-rowsets": "few"}))
    with pytest.raises(InvalidInputError, match=r"no property 'compaction\.speed'"):
        table.optimize().option("speed", 11)


def test_a_condition_chooses_rowsets_and_several_add_up() -> None:
    table = filled(12)
    narrowed = table.optimize("id >= 20").where("id < 80").option("min-rowsets", 2)
    assert narrowed.plan().groups[0].rowsets == tuple(range(2, 8))
    with pytest.raises(InvalidInputError, match="nope"):
        table.optimize("nope = 1").plan()
    with pytest.raises(InvalidInputError):
        table.optimize("id = ")


def test_a_table_whose_rows_are_all_deleted_in_one_group_is_left_empty() -> None:
    table = filled(1)
    table.delete("id < 9")
    table.optimize().executeCompaction()
    assert [r.entry.rows for r in live(table)] == [1]
    table.delete()
    assert str(table.optimize().plan()) == "t: nothing to compact: there are no RowSets."


def test_a_z_order_by_impossible_columns_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="has a sort key"):
        filled(kind="merge").optimize().executeZOrderBy("id")
    table = filled()
    for columns, problem in (((), "name them"), (("id", "ID"), "each once"), (("x",), "'x'")):
        with pytest.raises((InvalidInputError, NotFoundError), match=problem):
            table.optimize().executeZOrderBy(*columns)
    element = SchemaField(name="element", type="long")
    table.alter(AddColumn(SchemaField(name="list", type=ArrayType(element=element))))
    with pytest.raises(InvalidInputError, match="'list' .* no order"):
        table.optimize().executeZOrderBy(["id", "list"])
    report = table.optimize().executeZOrderBy("id", "n")
    assert (report.rowsets_removed, report.rowsets_added) == (9, 1)
    assert len(content(table)) == 90


def test_a_long_compaction_has_a_lease_that_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled()
    before = content(table)
    monkeypatch.setattr(lease, "LEASED_BYTES", 1)
    monkeypatch.setattr(table._log.agreement, "time", lambda *_: AgreedTime(10**15, 10**15))
    held: list[str] = []

    def vacuum(other: ArrowTable) -> None:
        monkeypatch.setattr(other._log.reader, "now_ms", lambda: 10**15 + 1)
        held.extend(other.vacuum(0, force=True, trust_clock=True).held_by)

    report = run_beside(table, vacuum)
    assert (report.groups, report.conflicts, len(held)) == (1, (), 1)
    assert held[0].startswith("lease of job")
    assert content(table) == before
    assert not table._snapshot.leases

    def fail(other: ArrowTable) -> None:
        assert other._refresh().leases
        raise CorruptionError("one block is damaged")

    for start in (200, 300):
        table.append(rows(start, 10))
    with pytest.raises(CorruptionError, match="one block"):
        run_beside(table, fail)
    assert not table._refresh().leases


def test_a_store_that_cannot_be_written_is_said_before_any_work() -> None:
    class ReadOnly(MemoryStore):
        def require_writable(self) -> None:
            raise InvalidInputError("This store is read only.")

    store = ReadOnly()
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ReadOnly, "require_writable", MemoryStore.require_writable)
        table = filled(store=store)
    with pytest.raises(InvalidInputError, match="read only"):
        table.optimize().executeCompaction()
    assert table.optimize().plan().groups
    assert len(live(table)) == 9
