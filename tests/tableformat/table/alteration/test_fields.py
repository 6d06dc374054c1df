"""Fields inside a column change beside other statements: both are right, or one is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import ConflictError
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.tableformat.table.alteration import (
    AddColumn,
    Alteration,
    DropColumn,
    MoveColumn,
    RenameColumn,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable

Row = tuple[int, Any, Any]
POINT = pa.struct([("x", pa.int32()), ("y", pa.string())])
SCHEMA = pa.schema([("k", pa.int64()), ("n", pa.int32()), ("l", pa.list_(POINT))])


def rows(*numbers: int) -> pa.Table:
    lists = [[{"x": n, "y": f"y{n}"}, None] for n in numbers]
    return pa.table({"k": numbers, "n": numbers, "l": lists}, SCHEMA)


def field(name: str, data_type: str = "string") -> SchemaField:
    return SchemaField(name=name, type=data_type)


INSIDE = "l.element"
CHANGES: dict[str, tuple[tuple[Alteration, ...], Callable[[int], Any]]] = {
    "add": (
        (AddColumn(field("z", "date"), parent=INSIDE, first=True),),
        lambda n: {"z": None, "x": n, "y": f"y{n}"},
    ),
    "drop": ((DropColumn(f"{INSIDE}.x"),), lambda n: {"y": f"y{n}"}),
    "drop all": ((DropColumn(f"{INSIDE}.x"), DropColumn(f"{INSIDE}.y")), lambda n: {}),
    "move": ((MoveColumn(f"{INSIDE}.y", first=True),), lambda n: {"y": f"y{n}", "x": n}),
    "drop and add again": (
        (DropColumn(f"{INSIDE}.y"), AddColumn(field("y"), parent=INSIDE)),
        lambda n: {"x": n, "y": None},
    ),
    "exchange names": (
        (
            RenameColumn(f"{INSIDE}.x", "t"),
            RenameColumn(f"{INSIDE}.y", "x"),
            RenameColumn(f"{INSIDE}.t", "y"),
        ),
        lambda n: {"y": n, "x": f"y{n}"},
    ),
    "widen": ((WidenColumn(f"{INSIDE}.x", "decimal(12,0)"),), lambda n: {"x": n, "y": f"y{n}"}),
}
STATEMENTS: dict[str, tuple[Callable[[ArrowTable], object], tuple[int, ...], tuple[int, ...]]] = {
    "append": (lambda t: t.append(rows(4)), (1, 2, 3, 4), (1, 2, 3, 4)),
    "overwrite": (lambda t: t.overwrite(rows(4)), (4,), (4,)),
    "delete": (lambda t: t.delete("n >= 3"), (1, 2), (1, 2)),
    "update in place": (lambda t: t.update({"n": 7}, "k = 2"), (1, 2, 3), (1, 7, 3)),
    "compact": (
        lambda t: t.optimize().option("min-rowsets", 2).executeCompaction(),
        (1, 2, 3),
        (1, 2, 3),
    ),
    "restore": (lambda t: t.restore(epoch=2), (1, 2), (1, 2)),
}
"""Statements, and the numbers `k` and `n` of the rows after them."""

REFUSED = {
    *(("append", change) for change in ("drop and add again", "exchange names")),
    *(("overwrite", change) for change in ("drop and add again", "exchange names")),
    *(("restore", change) for change in CHANGES),
}
"""Statements whose rows exist before the commit, and are meant for other fields by then."""


def made(path: Path) -> ArrowTable:
    """Rows 1 to 3, two of them in one RowSet."""
    table = colonnade.create(path, SCHEMA)
    limits = Limits(in_place_bytes=-(2**20), copied_rows=1)
    table._open.log = Log(table._log.store, limits=limits, pause=lambda seconds: None)
    table.append(rows(1, 2))
    table.append(rows(3))
    return table


def before_next_commit(action: Callable[[], object], patched: pytest.MonkeyPatch) -> None:
    commit = Log.commit_change

    def late(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        if change.operation != "lease":
            patched.setattr(Log, "commit_change", commit)
            action()
        return commit(log, change, base)

    patched.setattr(Log, "commit_change", late)


def expected(numbers: tuple[int, ...], values: tuple[int, ...], value: Callable[[int], Any]) -> Any:
    """The rows in the order of `k`."""
    return [{"k": k, "n": n, "l": [value(k), None]} for k, n in zip(numbers, values, strict=True)]


def _case(statement: str, change: str) -> Any:
    quick = change in ("drop and add again", "widen") or statement == "append"
    return pytest.param(statement, change, marks=() if quick else pytest.mark.long)


@pytest.mark.parametrize(
    ("statement", "change"), [_case(each, change) for each in STATEMENTS for change in CHANGES]
)
@pytest.mark.parametrize("when", ["after", "between"])
def test_a_statement_that_meets_other_fields_is_right_or_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: str, change: str, when: str
) -> None:
    table, other = made(tmp_path / "t"), ArrowTable.open(tmp_path / "t")
    changes, value = CHANGES[change]
    run, numbers, values = STATEMENTS[statement]
    if when == "between":
        before_next_commit(lambda: other.alter(*changes), monkeypatch)
    else:
        run(table)
        other.refresh()
        other.alter(*changes)
    if when == "between" and (statement, change) in REFUSED:
        with pytest.raises(ConflictError):
            run(table)
        numbers, values = (1, 2, 3), (1, 2, 3)
    elif when == "between":
        run(table)
    table.refresh()
    assert table.scan().to_arrow().sort_by("k").to_pylist() == expected(numbers, values, value)
    assert table.verify(4).is_sound
    before = table.scan(epoch=3).to_arrow().sort_by("k").to_pylist()
    assert before == rows(1, 2, 3).to_pylist()
