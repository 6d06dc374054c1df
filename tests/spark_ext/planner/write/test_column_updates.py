"""Which RowSets an UPDATE replaces columns in, and what concurrent writers make of its commit."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import colonnade
from colonnade.manifests.errors import ConflictError, InvalidInputError, NotFoundError
from colonnade.manifests.state.snapshot import LiveRowSet
from colonnade.manifests.state.view import View
from colonnade.spark_ext.planner.messages.views import NamedView
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.read.load import load
from colonnade.spark_ext.planner.state.snapshots import Snapshots
from colonnade.spark_ext.planner.write import column_updates, rows
from colonnade.spark_ext.types import declared_json
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.rowset.write_options import WriteOptions
from colonnade.tableformat.types.storage_form import to_storage
from colonnade.tableformat.write.job import WriteJob
from colonnade.tableformat.write.replaced_columns import WritePlace, write_replacement
from tests.spark_ext.planner.catalog.test_databases import planned
from tests.spark_ext.planner.write.test_rows import outlive
from tests.task_reports import encode_rows

COUNT = 3000


def numbers(first: int, count: int = COUNT) -> pa.Table:
    """Rows with one column to set, and many further columns that take bytes."""
    ids = np.arange(first, first + count)
    others = {f"c{i}": np.random.default_rng(i).random(count) for i in range(8)}
    return pa.table({"id": ids, "n": ids * 2, **others})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A table with two large RowSets and a small one."""
    table = colonnade.create(tmp_path / "t", numbers(0).schema)
    for each in (numbers(0), numbers(COUNT), numbers(2 * COUNT, 10)):
        table.append(each)
    return tmp_path / "t"


class Update:
    """An UPDATE of `n` as the jar asks for it."""

    def __init__(self, path: Path, *columns: str, reads_columns: int = 1) -> None:
        self.table = colonnade.open(path)
        state = load({"path": str(path), "options": {}})
        schema = declared_json(self.table._state.schema)
        plan = planned(path, columns=schema, view=state["view"], filled=["copy"])
        self.args: dict[str, Any] = {
            "job": plan["job"],
            "view": state["view"],
            "counted": True,
            "columns": list(columns or ("n",)),
            "filters": [],
            "reads": reads_columns,
            "least": "0",
        }

    def candidates(self) -> list[int]:
        found: list[int] = column_updates.updated_rowsets({"update": self.args})["rowsets"]
        return found

    def choose(self, counts: dict[int, int] | None) -> tuple[list[int], list[int]]:
        """The RowSets whose columns are replaced, and the RowSets whose rows move."""
        given = None if counts is None else {str(n): count for n, count in counts.items()}
        self.chosen = column_updates.choose_columns({"update": self.args, "counts": given})
        return [each["id"] for each in self.chosen["rowsets"]], self.chosen["others"]

    def commit(self, least: int = 0) -> dict[str, Any]:
        """Add one to `n` of the rows from `least` on, in the chosen RowSets."""
        state, epoch = self.table._state, self.table.epoch
        chosen = {each["id"] for each in self.chosen["rowsets"]}
        rowsets = [each for each in self.table._log.rowsets.read(state) if each.id in chosen]
        columns = {
            "names": self.args["columns"],
            "live_rowsets": self.chosen["live_rowsets"],
            "reports": [self._write(each, least) for each in rowsets],
        }
        assert epoch == self.args["view"]["epoch"]
        said = {name: self.args[name] for name in ("job", "filters")}
        said["database"] = self.args["view"]["database"]
        return rows.commit_rows(
            {**said, "messages": [], "kind": "update", "keys": None, "columns": columns}
        )

    def _write(self, rowset: LiveRowSet, least: int) -> str:
        state, store = self.table._state, self.table._log.store
        field = state.schema.field("n")
        [(_, batch)] = RowSetReader(store, View.written(state.prefix), rowset).read(
            [state.schema.field("id"), field]
        )
        met = pc.greater_equal(batch["id"], least)
        new = pc.if_else(met, pc.add(batch["n"], 1), batch["n"])
        one = state.schema.model_copy(update={"fields": (field,)})
        arrays = to_storage(pa.record_batch({"n": new}), one)
        job = WriteJob.model_validate_json(self.args["job"])
        place = WritePlace(store, state.id, state.prefix, job.job_id, 1024)
        done = write_replacement(place, rowset, [field], [arrays], None, WriteOptions())
        stored = {
            **done.replacement.model_dump(mode="json", exclude={"columns"}),
            "rows": rowset.entry.rows,
            "cuts": rowset.entry.cuts,
            "statistics": {
                key: each.model_dump(mode="json", exclude_none=True)
                for key, each in done.statistics.items()
            },
        }
        changed = np.flatnonzero(met.to_numpy(zero_copy_only=False))
        report = {
            "rowset": rowset.id,
            "stored": {key: value for key, value in stored.items() if value is not None},
            "rows": len(changed),
            "changed": {str(rowset.id): encode_rows(changed)},
        }
        return json.dumps([report])


def test_rows_are_counted_if_that_reads_few_columns_and_a_rowset_is_large(path: Path) -> None:
    assert Update(path).candidates() == [0, 1, 2]
    assert Update(path, reads_columns=0).candidates() == [0, 1, 2]
    assert Update(path, reads_columns=2).candidates() == []
    colonnade.open(path).delete("id < 6000")
    assert Update(path).candidates() == []


def test_a_rowset_that_retention_removes_while_columns_are_chosen_is_not_damage(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    colonnade.open_database(path).repair()  # from now on a state is read from a checkpoint
    fresh, update = Snapshots(), Update(path)
    monkeypatch.setattr(column_updates, "SNAPSHOTS", fresh)
    fresh.of_view(NamedView(**update.args["view"]))
    outlive(path, numbers(0, 1))
    for name, args in (("updated_rowsets", {}), ("choose_columns", {"counts": None})):
        with pytest.raises(NotFoundError, match="Epoch 4 of .* was removed by retention"):
            OPS[name]({"update": update.args, **args})


def test_columns_are_replaced_where_most_rows_change_and_other_rows_move(path: Path) -> None:
    assert Update(path).choose({0: COUNT, 1: 5}) == ([0], [1])
    assert Update(path).choose({0: COUNT, 2: 1}) == ([0], [2])
    assert Update(path).choose({0: COUNT}) == ([0], [])
    assert Update(path).choose({0: 5}) == ([], [0])
    assert Update(path).choose(None) == ([0, 1], [2])
    every = ("n", *(f"c{i}" for i in range(8)))
    assert Update(path, *every).choose(None) == ([], [0, 1, 2])


def test_rows_that_take_few_bytes_move(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    update = Update(path)
    large = sum(each.byte_count for each in update.table._log.rowsets.read(update.table._state))
    for least, chosen in ((None, []), (f"{large}", []), (f"{large // 3}", [0, 1])):
        update.args["least"] = least
        assert update.candidates() == (chosen and [0, 1, 2])
        assert update.choose(None) == (chosen, [2] if chosen else [0, 1, 2])
        assert update.choose({0: COUNT // 8})[0] == []
    update.args["least"] = None
    monkeypatch.setattr(column_updates, "LEAST_BYTES", large // 3)
    for counted, chosen in ((True, []), (False, [0, 1])):
        update.args["counted"] = counted
        assert update.choose(None)[0] == chosen
    update.args["least"] = f"{large * 2 // 3}"
    assert update.choose(None)[0] == []  # no single RowSet has that much
    monkeypatch.setattr(column_updates, "LEAST_OF_ROWSET", large // 3)
    assert update.choose(None)[0] == [0, 1]
    update.args["least"] = "much"
    with pytest.raises(InvalidInputError, match="replaceColumnsBytes is 'much'"):
        update.candidates()


def test_columns_that_decide_more_than_their_own_values_are_never_replaced(
    tmp_path: Path,
) -> None:
    schema = numbers(0).schema.append(pa.field("copy", pa.float64()))
    table = colonnade.create(
        tmp_path / "t",
        schema,
        sort_key=["c0"],
        generated={"copy": "c4"},
        constraints={"both": "n >= 0 OR c1 > 5", "one": "c2 >= 0"},
    )
    table.append(numbers(0))
    moving: list[tuple[str, list[int]]] = [("c4", []), ("copy", [])]
    for column, chosen in (("c0", []), ("n", []), ("c1", []), ("c2", [0]), ("c3", [0]), *moving):
        update = Update(tmp_path / "t", column)
        assert update.choose(None)[0] == chosen, column
        assert update.candidates() == chosen, column


def test_a_statement_that_read_another_epoch_than_its_job_moves_rows(path: Path) -> None:
    update = Update(path)
    update.args["view"]["epoch"] -= 1
    assert update.candidates() == []
    assert update.choose(None)[0] == []


def found(path: Path) -> dict[int, int]:
    """The values of `n` by id, after a look at all that is stored."""
    table = colonnade.open(path)
    assert table.verify().is_sound
    columns = table.scan(["id", "n"]).to_arrow()
    return dict(zip(columns["id"].to_pylist(), columns["n"].to_pylist(), strict=True))


@pytest.mark.parametrize(
    ("meddle", "rows_after"),
    [
        (lambda table: table.append(numbers(7000, 5)), 6015),
        (lambda table: table.update({"c5": 0.0}, "id = 6001"), 6010),
        (lambda table: table.delete("id IN (5, 4000)"), 6008),
        (lambda table: table.alter(colonnade.WidenColumn("n", "decimal(22,2)")), 6010),
    ],
)
def test_a_commit_keeps_what_concurrent_writers_do_to_other_rows_and_columns(
    path: Path, meddle: Callable[[colonnade.ArrowTable], object], rows_after: int
) -> None:
    update = Update(path)
    update.choose({0: COUNT, 1: COUNT})
    before = colonnade.open(path)
    meddle(before)
    assert colonnade.open(path).epoch == update.table.epoch + 1
    update.commit(least=2)
    values = found(path)
    assert all(values[n] == 2 * n + (2 <= n < 6000) for n in values)
    assert len(values) == rows_after


@pytest.mark.parametrize(
    ("meddle", "least", "moves"),
    [
        (lambda table: table.update({"n": -1}, "id = 5"), 0, False),
        (lambda table: table.update({"n": -1}), 0, False),
        (lambda table: table.update({"n": -1}, "id < 2500"), 2500, True),
        (lambda table: table.update({"n": -1}, "id < 2500"), 2499, False),
        (lambda table: table.optimize().executeZOrderBy("c0", "c1"), 0, True),
        (lambda table: table.alter(colonnade.DropColumn("n")), 0, True),
        (lambda table: table.alter(colonnade.AddConstraint("low", "n < 12019")), 0, False),
    ],
)
def test_a_commit_beside_a_change_of_its_column_changes_nothing_and_says_if_rows_may_move(
    path: Path, meddle: Callable[[colonnade.ArrowTable], object], least: int, moves: bool
) -> None:
    update = Update(path)
    update.choose({0: COUNT, 1: COUNT})
    meddle(colonnade.open(path))
    before = colonnade.open(path).epoch
    if moves:
        assert "repeat it" in update.commit(least)["refused"]
    else:
        with pytest.raises(ConflictError):
            update.commit(least)
    assert colonnade.open(path).epoch == before == update.table.epoch + 1
