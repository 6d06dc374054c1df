"""Columns change between statements: every epoch has the rows and types of a plain model."""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.commit.change import Change
from colonnade.manifests.errors import (
    ColonnadeError,
    ConflictError,
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.schema import SchemaField
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.table.alteration import (
    AddColumn,
    DropColumn,
    RenameColumn,
    SetDefault,
    SetPartitioning,
    WidenColumn,
)
from colonnade.tableformat.table.table import ArrowTable
from tests.evolution.steps import evolve, reads
from tests.evolution.world import World

STEPS = 30


def check(world: World) -> None:
    for name, scan, expected in reads(world):
        found = scan.to_arrow().sort_by("k")
        at = f"seed {world.seed}, {name}"
        # With the columns of another epoch, a column may be shown as nullable that was NOT NULL.
        assert "as of" in name or found.schema.equals(expected.schema), at
        assert found.to_pydict() == expected.to_pydict(), at
    table = world.open()
    for _ in range(10):
        text, met = world.condition()
        wanted = sorted(row[0] for row in world.rows if met(row))
        assert sorted(table.scan(["k"], text).to_arrow()["k"].to_pylist()) == wanted, text
    assert table.verify(4).is_sound


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "placed", "ruled"),
    [
        *((1, False, True), (300, True, False)),
        *(
            pytest.param(seed, seed % 3 == 0, seed % 2 == 0, marks=pytest.mark.long)
            for seed in range(6, 300)
        ),
    ],
)
def test_every_epoch_has_the_rows_and_types_of_the_model(
    seed: int, placed: bool, ruled: bool
) -> None:
    """A `placed` table is sorted and partitioned; a `ruled` one gives values to its columns."""
    world = World(MemoryStore(), seed, placed=placed, ruled=ruled)
    evolve(world, STEPS // 2 if seed in (1, 300) else STEPS)
    check(world)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(400, 404))
def test_a_table_of_a_long_life_has_the_rows_and_types_of_the_model(seed: int) -> None:
    """Hundreds of steps, with columns that are nested up to three levels deep."""
    world = World(MemoryStore(), seed, ruled=seed % 2 == 0, depth=3)
    evolve(world, 600)
    check(world)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(300, 304))
def test_rows_of_many_blocks_evolve_as_a_few_do(seed: int) -> None:
    world = World(MemoryStore(), seed, batches=(5, 70_000), ruled=True, depth=3)
    evolve(world, STEPS // 2)
    check(world)


@pytest.mark.parametrize("wider", ["long", "double", "decimal(14,2)"])
def test_a_column_with_a_default_widens_to_every_wider_type(tmp_path: Path, wider: str) -> None:
    table = made(tmp_path / "t")
    before = table.scan().to_arrow().num_rows
    table.alter(AddColumn(SchemaField(name="d", type="int"), default="70000"))
    table.append(pa.table({"k": [8], "d": pa.array([1], pa.int32())}))
    table.alter(WidenColumn(("d",), wider), SetDefault(("d",), "80000"))
    table.append(pa.table({"k": [9]}))
    expected = [70_000] * before + [1, 80_000]
    assert table.scan(["d"]).to_arrow()["d"].to_pylist() == expected
    assert table.scan(["k"], "d = 70000").to_arrow().num_rows == before
    table.optimize().option("min-rowsets", 2).executeCompaction()
    assert sorted(table.scan(["d"]).to_arrow()["d"].to_pylist()) == sorted(expected)
    assert table.verify(4).is_sound


def made(path: Path) -> ArrowTable:
    """Rows 1 to 3, two of them in one RowSet, and `n` an int."""
    limits = Limits(in_place_bytes=-(2**20))
    table = colonnade.create(path, pa.schema({"k": pa.int64(), "n": pa.int32()}))
    table._open.log = Log(table._log.store, limits=limits, pause=lambda seconds: None)
    table.append(rows((1, 10), (2, None)))
    table.append(rows((3, 30)))
    return table


def rows(*pairs: tuple[int, int | None], wide: bool = False) -> pa.Table:
    keys, values = zip(*pairs, strict=True)
    return pa.table({"k": keys, "n": pa.array(values, pa.int64() if wide else pa.int32())})


def pairs(table: ArrowTable, **scan: Any) -> list[tuple[int, Any]]:
    table.refresh()
    found = table.scan(**scan).to_arrow().sort_by("k").to_pydict()
    return list(zip(found["k"], [*found.values()][1], strict=True))


BEFORE = [(1, 10), (2, None), (3, 30)]


def first(action: Callable[[], object], patched: pytest.MonkeyPatch) -> None:
    """Do something right before the next commit, after that commit was planned."""
    commit = Log.commit_change

    def late(log: Log, change: Change, base: Snapshot) -> tuple[Snapshot, Epoch | None]:
        if change.operation != "lease":
            patched.setattr(Log, "commit_change", commit)
            action()
        return commit(log, change, base)

    patched.setattr(Log, "commit_change", late)


def test_a_key_that_a_writer_of_the_wider_column_has_added_is_not_inserted_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, other = made(tmp_path / "t"), ArrowTable.open(tmp_path / "t")

    def widen_and_add() -> None:
        other.alter(WidenColumn(("n",), "long"), RenameColumn(("n",), "m"))
        other.append(pa.table({"k": [8], "m": [90]}))

    first(widen_and_add, monkeypatch)
    with pytest.raises(ColonnadeError):
        table.upsert(rows((9, 90)), on="n")
    assert pairs(table) == [*BEFORE, (8, 90)]


def test_a_wider_column_is_replaced_under_its_id_and_dropped_afterwards(
    tmp_path: Path,
) -> None:
    table = made(tmp_path / "t")
    table.alter(WidenColumn(("n",), "long"))
    assert table.update({"n": 2**40}, "k <= 2").rowsets_in_place == 1
    [changed, _] = table._log.rowsets.read(table._state)
    [replacement] = changed.replacements
    assert replacement.columns == (2,)
    assert changed.entry.statistics[2].max == f"i:{2**40}"
    assert pairs(table) == [(1, 2**40), (2, 2**40), (3, 30)]
    assert table.verify(4).is_sound
    table.alter(DropColumn(("n",)))
    assert table.verify(4).is_sound


def test_a_table_that_was_dropped_comes_back_with_its_widened_columns(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    table = db.create_table("t", pa.schema({"k": pa.int64(), "n": pa.int32()}))
    table.append(rows((1, 10)))
    for number in range(4):
        table.alter(AddColumn(SchemaField(name=f"x{number}", type="int")))
    table.alter(WidenColumn(("n",), "long"))
    epoch = table.append(rows((2, 2**40), wide=True))
    db.drop_table("t")
    db.restore(epoch=epoch)
    table = db.table("t")
    assert pairs(table) == [(1, 10), (2, 2**40)]
    table.append(rows((3, 2**41), wide=True))
    table.alter(WidenColumn(("n",), "decimal(20,1)"))
    table.append(pa.table({"k": [4], "n": [Decimal("0.5")]}))
    assert pairs(table) == [(1, 10), (2, 2**40), (3, 2**41), (4, Decimal("0.5"))]
    assert pairs(table, where="n = 10") == [(1, 10)]
    assert table.verify(4).is_sound


@pytest.mark.parametrize("name", ["n", "renamed"])
def test_rows_of_a_wider_column_are_refused_once_a_restore_has_undone_the_widening(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    table, other = made(tmp_path / "t"), ArrowTable.open(tmp_path / "t")
    before = table.epoch
    table.alter(WidenColumn(("n",), "long"), RenameColumn(("n",), name))
    first(lambda: other.restore(epoch=before), monkeypatch)
    with pytest.raises(ConflictError, match="columns of table 't' changed after epoch"):
        table.append(pa.table({"k": [4], name: [40]}))
    assert pairs(table) == BEFORE


def test_a_wider_column_that_a_layout_had_before_a_restore_can_be_updated(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    before = table.epoch
    after = table.alter(WidenColumn(("n",), "long"))
    table.restore(epoch=before)
    table.alter(SetPartitioning(("n",)))
    table.alter(SetPartitioning(()))
    table.restore(epoch=after)
    assert table.update({"n": 2**40}, "k <= 2").rowsets_in_place == 0
    assert pairs(table) == [(1, 2**40), (2, 2**40), (3, 30)]
    assert table.verify(4).is_sound


def test_several_changes_of_one_column_share_an_epoch_and_one_new_id(tmp_path: Path) -> None:
    table = made(tmp_path / "t")
    table.alter(
        WidenColumn(("n",), "long"),
        AddColumn(SchemaField(name="x", type="byte")),
        WidenColumn(("x",), "int"),
        WidenColumn(("N",), "decimal(20,0)"),
        WidenColumn(("k",), "long"),
    )
    k, n, x = table._state.schema.fields
    assert (k.id, n.id, x.id) == (1, 2, 3)
    assert pairs(table, columns=["k", "n"]) == [(1, 10), (2, None), (3, 30)]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (WidenColumn(("n",), "string"), "from int to string: it can become long, double, a dec"),
        (
            WidenColumn(("n", "x"), "long"),
            "Field 'n.x' does not exist: 'n' of type int has no fields",
        ),
        (WidenColumn(("k",), "double"), "'k' cannot be changed from long to double: it can"),
        (WidenColumn(("p",), "double"), "by identity of it, and rows would belong to other part"),
        (WidenColumn(("p",), "decimal(12,1)"), "it can become long, a decimal of scale 0"),
        (WidenColumn(("q",), "decimal(12,0)"), "by bucket of it, and rows would belong to other"),
        (WidenColumn(("q",), "double"), "to other partitions; it can become long."),
        (WidenColumn(("l",), "string"), "to string: it has no wider type; add a column"),
        (WidenColumn(("other",), "long"), "Column 'other' does not exist"),
    ],
)
def test_a_type_that_cannot_widen_is_refused_and_nothing_changes(
    tmp_path: Path, change: WidenColumn, said: str
) -> None:
    names = {"k": pa.int64(), "n": pa.int32(), "p": pa.int32(), "q": pa.int32()}
    schema = pa.schema({**names, "l": pa.list_(pa.int32())})
    table = colonnade.create(tmp_path / "t", schema, sort_key=["k"], partition_by=["p"])
    with pytest.raises((InvalidInputError, NotFoundError), match=re.escape(said)):
        table.alter(SetPartitioning(("bucket(4, q)",)), change)
    assert table.refresh().epoch == 1


INTS = pa.schema({"k": pa.int32(), "n": pa.int32()})


def ints(*pairs: tuple[int, int]) -> pa.Table:
    keys, values = zip(*pairs, strict=True)
    return pa.table({"k": keys, "n": values}, INTS)


def placed(path: Path) -> ArrowTable:
    """Rows 1 to 8 in two RowSets each of four partitions by `n`, sorted by `k`."""
    table = colonnade.create(path, INTS, sort_key=["k desc"], partition_by=["bucket(4, n)"])
    table.append(ints(*PLACED[:4]))
    table.append(ints(*PLACED[4:]))
    return table


PLACED = [(k, k % 4) for k in range(1, 9)]
WRITERS: dict[str, tuple[Callable[[ArrowTable], object], list[tuple[int, Any]]]] = {
    "append": (lambda t: t.append(ints((9, 1))), [*PLACED, (9, 1)]),
    "delete": (lambda t: t.delete("k > 4 AND n = 1"), [row for row in PLACED if row != (5, 1)]),
    "update": (lambda t: t.update({"n": 7}, "n = 2"), [(k, 7 if n == 2 else n) for k, n in PLACED]),
    "upsert": (
        lambda t: t.upsert(ints((3, 30), (9, 90)), on="k"),
        [*((k, 30 if k == 3 else n) for k, n in PLACED), (9, 90)],
    ),
    "overwrite": (
        lambda t: t.overwrite_partitions(ints((10, 3))),
        [*(row for row in PLACED if row[1] != 3), (10, 3)],
    ),
    "compaction": (lambda t: t.optimize().option("min-rowsets", 2).executeCompaction(), PLACED),
}


@pytest.mark.parametrize("road", WRITERS)
def test_a_writer_that_meets_wider_keys_lands_its_rows_in_their_partitions_or_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, road: str
) -> None:
    table, other = placed(tmp_path / "t"), ArrowTable.open(tmp_path / "t")
    write, after = WRITERS[road]
    first(
        lambda: other.alter(WidenColumn(("k",), "decimal(12,1)"), WidenColumn(("n",), "long")),
        monkeypatch,
    )
    try:
        write(table)
    except ConflictError:
        table.refresh()
        write(table)
    assert pairs(table) == after
    for number in {n for _, n in after}:
        assert pairs(table, where=f"n = {number}") == [row for row in after if row[1] == number]
    assert table.verify(4).is_sound
    table.append(pa.table({"k": [Decimal("0.5")], "n": [2**40 + 1]}))
    [found] = pairs(table, where="k < 2 AND n > 3")
    assert found[1] == 2**40 + 1
    assert table.verify(4).is_sound


def test_a_layout_of_the_same_call_follows_a_column_that_widens(tmp_path: Path) -> None:
    table = placed(tmp_path / "t")
    before = table.epoch
    table.alter(
        SetPartitioning(("n", "k")), WidenColumn(("n",), "long"), WidenColumn(("k",), "long")
    )
    table.append(pa.table({"k": [2**40], "n": [1]}))
    assert table._state.partition_layout_id == 2
    assert pairs(table) == [*PLACED, (2**40, 1)]
    table.alter(SetPartitioning(()), DropColumn(("n",)))
    assert table.verify(4).is_sound
    table.restore(epoch=before)
    assert pairs(table, where="n = 1") == [(1, 1), (5, 1)]
    table.append(ints((9, 1)))
    assert pairs(table, where="n = 1") == [(1, 1), (5, 1), (9, 1)]
    assert table.verify(4).is_sound


def test_a_table_with_wider_keys_comes_back_after_it_was_dropped(tmp_path: Path) -> None:
    db = colonnade.create_database(tmp_path / "db")
    table = db.create_table("t", INTS, sort_key=["k"], partition_by=["bucket(4, n)"])
    narrow = table.append(ints((1, 10), (2, 20)))
    table.alter(WidenColumn(("n",), "long"), WidenColumn(("k",), "double"))
    wide = table.append(pa.table({"k": [2.5], "n": [2**40]}))
    for epoch, expected in ((narrow, [(1, 10), (2, 20)]), (wide, [(1, 10), (2, 20), (2.5, 2**40)])):
        db.drop_table("t")
        db.restore(epoch=epoch)
        table = db.table("t")
        assert pairs(table) == expected
        assert pairs(table, where="n = 20 AND k >= 2") == [(2, 20)]
        assert table.verify(4).is_sound
