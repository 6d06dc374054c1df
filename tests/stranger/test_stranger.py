"""The specification is enough to read what the product writes, and to write what it reads."""

from __future__ import annotations

import ast
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade.manifests.errors import ColonnadeError, InvalidInputError, NotFoundError
from colonnade.manifests.ids import TableId
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.store import LocalStore
from tests.stranger import feed, log, reader, stored, values, writer
from tests.stranger.databases import make_database
from tests.strategies import identical

GOLDEN = Path(__file__).parents[1] / "spec" / "golden"
LOGS = sorted(each for each in GOLDEN.glob("log-*/whole") if each.parent.name != "log-v1-drop")
COLUMNS = [("id", "long", False), ("name", "string"), ("price", "decimal(9,2)"), ("x", "double")]


def test_the_stranger_imports_nothing_of_the_product() -> None:
    for module in (stored, log, values, reader, feed, writer):
        assert module.__file__ is not None
        tree = ast.parse(Path(module.__file__).read_text())
        names = [
            name
            for node in ast.walk(tree)
            for name in (
                [each.name for each in node.names]
                if isinstance(node, ast.Import)
                else [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else []
            )
        ]
        assert names
        assert not [name for name in names if name.split(".")[0] in ("colonnade", "tests")]


@pytest.mark.parametrize("folder", LOGS, ids=[each.parent.name for each in LOGS])
def test_the_stranger_knows_the_state_of_every_epoch_of_a_golden_log(folder: Path) -> None:
    ours = LogReader(LocalStore(str(folder)))
    theirs = log.Log(str(folder))
    ours_head, head = ours.read_head(), theirs.head()
    assert (head.epoch, head.transaction) == (ours_head.epoch, ours_head.transaction)
    compared = 0
    for epoch in range(head.epoch + 1):
        try:
            wanted = ours.read_at(epoch, head=ours_head)
        except NotFoundError:
            with pytest.raises(log.Removed):
                theirs.at(head, epoch)
            continue
        found = theirs.at(head, epoch)
        assert found.transaction == wanted.transaction
        named = {table.name: table for table in wanted.tables.values()}
        assert {each.name for each in found.tables.values()} >= named.keys()
        for table in found.tables.values():
            ours_table = wanted.tables[TableId(table.id)]
            stored = ours.rowsets.read(ours_table, which="all")
            assert [each["id"] for each in table.fields] == [f.id for f in ours_table.schema.fields]
            assert sorted(table.rowsets) == [each.id for each in stored]
        compared += 1
    assert compared


def same(found: pa.Table, wanted: pa.Table) -> None:
    assert found.schema.equals(wanted.schema)
    assert found.num_rows == wanted.num_rows
    for one, other in zip(found.columns, wanted.columns, strict=True):
        empty = pa.nulls(0, one.type)
        assert identical(*(pa.concat_arrays([empty, *each.chunks]) for each in (one, other)))


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, 60))]
)
def test_the_stranger_reads_random_databases_as_the_product_does(tmp_path: Path, seed: int) -> None:
    """Every epoch of every table, of all types, also after a vacuum."""
    ours = make_database(tmp_path / "db", seed)
    theirs = reader.open(tmp_path / "db")
    assert (theirs.epoch, sorted(theirs.tables)) == (ours.epoch, sorted(ours.tables()))
    compared = 0
    for name in ours.tables():
        for epoch in range(ours.epoch + 1):
            try:
                wanted = ours.table(name).scan(epoch=epoch).to_arrow()
            except NotFoundError:
                with pytest.raises(log.Removed):
                    theirs.table(name).read(epoch)
                continue
            same(theirs.table(name).read(epoch), wanted)
            compared += 1
    assert compared


def told(changes: colonnade.Changes) -> Counter[tuple[Any, ...]]:
    """The product's changes in the stranger's form."""
    found = changes.to_arrow().combine_chunks()
    names = ("_change_type", "_commit_version", "_row_handler")
    own = [found.column(name).to_pylist() for name in names]
    parts = [[pa.nulls(0, each.type), *each.chunks] for each in found.columns[:-4]]
    columns = [feed.values(pa.concat_arrays(part)) for part in parts]
    return Counter(zip(*own, zip(*columns, strict=True), strict=True))


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(4, 60))]
)
def test_the_stranger_tells_the_changes_of_random_databases_as_the_product_does(
    tmp_path: Path, seed: int
) -> None:
    """The changes of one epoch, and the net changes of several, with all that may lie between."""
    rng = random.Random(seed)
    ours = make_database(tmp_path / "db", seed)
    theirs = reader.open(tmp_path / "db")
    for name in ours.tables():
        stranger, table = feed.Feed(theirs.table(name)), ours.table(name)
        begun = max(table._state.created_epoch, table._snapshot.floor + 1)
        lasts = range(begun, ours.epoch + 1)
        assert lasts or table._snapshot.floor == ours.epoch
        for last in rng.choices(lasts, k=5) if lasts else ():
            first = rng.choice([last, rng.randint(begun, last)])
            try:
                wanted = told(table.changes(first, last, net=True))
            except InvalidInputError:  # a restore made a type too narrow for a value
                with pytest.raises((stored.FormatError, pa.ArrowInvalid)):
                    list(stranger.changes(first, last))
                continue
            assert Counter(stranger.changes(first, last)) == wanted, (name, first, last)


def rows(first: int, count: int) -> list[dict[str, object]]:
    return [
        {"id": n, "name": None if n % 5 == 0 else f"é{n}", "price": None, "x": n / 2}
        for n in range(first, first + count)
    ]


@pytest.mark.slow
def test_the_product_reads_and_changes_what_the_stranger_wrote(tmp_path: Path) -> None:
    place = tmp_path / "t"
    writer.create(place, COLUMNS)
    writer.append(place, rows(0, 50))
    writer.append(place, rows(50, 70_000))
    writer.delete(place, "t", lambda row: row["id"] % 3 == 0)
    table = colonnade.open(place)
    assert table.scan(columns=["id"]).to_arrow()["id"].to_pylist() == [
        n for n in range(70_050) if n % 3
    ]
    same(reader.open(place).table("t").read(), table.scan().to_arrow())
    assert not colonnade.verify(place, depth=4).findings
    table.delete("id < 40")
    table.optimize()
    writer.append(place, rows(80_000, 3))
    table = table.refresh()
    same(reader.open(place).table("t").read(), table.scan().to_arrow())
    assert not colonnade.verify(place, depth=4).findings


def test_writers_of_both_kinds_beside_each_other_lose_nothing(tmp_path: Path) -> None:
    place = tmp_path / "t"
    writer.create(place, COLUMNS)
    table = colonnade.open(place)
    for turn in range(6):
        writer.append(place, rows(10 * turn, 5))
        table.append(pa.Table.from_pylist(rows(10 * turn + 5, 5), table.schema))
    stranger = feed.Feed(reader.open(place).table("t"))
    assert Counter(stranger.changes(4, table.epoch)) == told(table.changes(4, net=True))
    assert sorted(table.scan().to_arrow()["id"].to_pylist()) == [*range(60)]


def test_an_append_whose_file_a_vacuum_has_removed_is_a_conflict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, put = tmp_path / "t", writer.put_new
    writer.create(place, COLUMNS)
    writer.append(place, rows(0, 5))

    def put_before_a_vacuum(root: str, name: str, data: bytes) -> None:
        put(root, name, data)
        colonnade.open(place).vacuum(0, force=True)

    monkeypatch.setattr(writer, "put_new", put_before_a_vacuum)
    with pytest.raises(writer.Conflict):
        writer.append(place, rows(5, 5))
    assert not [*place.glob("*/*.rowset")][1:]
    same(reader.open(place).table("t").read(), colonnade.open(place).scan().to_arrow())


@pytest.mark.slow
def test_a_stranger_finds_every_damage_that_the_product_finds(tmp_path: Path) -> None:
    place = tmp_path / "t"
    writer.create(place, COLUMNS)
    writer.append(place, rows(0, 500))
    [data] = place.glob("*/*.rowset")
    intact = data.read_bytes()
    for at in range(0, len(intact), 97):
        data.write_bytes(intact[:at] + bytes([intact[at] ^ 1]) + intact[at + 1 :])
        with pytest.raises(ColonnadeError):
            colonnade.open(place).scan().to_arrow()
        with pytest.raises(stored.FormatError):
            reader.open(place).table("t").read()
