"""Tables with static columns, beside a model in dictionaries, at every epoch."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import ConflictError, RenameColumn
from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.store import open_store
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable

SCHEMA = pa.schema(
    [
        ("site", pa.string()),
        ("device", pa.int64()),
        ("at", pa.int32()),
        ("value", pa.float64()),
        ("owner", pa.string()),
        ("meta", pa.struct([("tags", pa.list_(pa.string())), ("size", pa.decimal128(38, 5))])),
    ]
)
SITES = ("", "a", "ß", "🦊 x", "`\"'")
OWNERS = ("ann", "bo", "", "o'neil", "ümit")

Key = tuple[str, int]


@dataclass
class Model:
    """Rows by primary key, and static values by partition key."""

    rows: dict[tuple[str, int, int], float | None] = field(default_factory=dict)
    statics: dict[Key, dict[str, Any]] = field(default_factory=dict)

    def shown(self) -> list[dict[str, Any]]:
        nothing: dict[str, Any] = {"owner": None, "meta": None}
        return [
            {"site": s, "device": d, "at": a, "value": v, **self.statics.get((s, d), nothing)}
            for (s, d, a), v in sorted(self.rows.items())
        ]

    def give(self, key: Key, values: dict[str, Any]) -> None:
        given = {name: each for name, each in values.items() if each is not None}
        if given:
            self.statics.setdefault(key, {"owner": None, "meta": None}).update(given)


class Life:
    """A table and its model, changed by the same random statements."""

    def __init__(self, path: Path, seed: int, rows: int, devices: int) -> None:
        self.rng, self.most, self.devices = random.Random(seed), rows, devices
        self.table = colonnade.create(
            path,
            SCHEMA,
            primary_key=["site", "device", "at"],
            static=["owner", "meta"],
            partition_key=["site", "device"],
            properties={"onDuplicate": "merge"},
        )
        self.model = Model()
        self.known: dict[int, Model] = {}
        self.owner = "owner"

    def key(self) -> Key:
        return self.rng.choice(SITES), self.rng.randrange(self.devices)

    def meta(self) -> dict[str, Any] | None:
        if self.rng.random() < 0.3:
            return None
        tags = self.rng.choice([None, [], [None, "x"], ["long" * 20]])
        size = self.rng.choice([None, "0.00000", "123456789012345678901234567890123.45678"])
        return {"tags": tags, "size": None if size is None else Decimal(size)}

    def owner_value(self) -> str | None:
        return None if self.rng.random() < 0.2 else self.rng.choice(OWNERS)

    def rows_of(self, count: int) -> list[dict[str, Any]]:
        found = []
        for _ in range(count):
            site, device = self.key()
            row = {"site": site, "device": device, "at": self.rng.randrange(50)}
            found.append(row | {"value": self.rng.choice([None, -0.5, 1e300, 2.25])})
        return found

    def add(self) -> None:
        rows = self.rows_of(self.rng.randint(1, self.most))
        given = self.rng.sample(["owner", "meta"], self.rng.randint(0, 2))
        for row in rows:
            key = row["site"], row["device"]
            values = {n: self.owner_value() if n == "owner" else self.meta() for n in given}
            self.model.rows[key[0], key[1], row["at"]] = row["value"]
            self.model.give(key, values)
            row.update({self.owner if n == "owner" else n: v for n, v in values.items()})
        names = [
            "site",
            "device",
            "at",
            "value",
            *(self.owner if n == "owner" else n for n in given),
        ]
        schema = pa.schema([self.field(name) for name in names])
        data = pa.Table.from_pylist(rows, schema)
        if self.rng.random() < 0.5:
            self.table.append(data)
        else:
            self.table.upsert(data)

    def field(self, name: str) -> pa.Field:
        return SCHEMA.field("owner").with_name(name) if name == self.owner else SCHEMA.field(name)

    def give(self) -> None:
        """Set static values of partitions, which may have no rows."""
        rows = []
        for _ in range(self.rng.randint(1, 5)):
            key = self.key()
            owner = self.owner_value()
            rows.append({"site": key[0], "device": key[1], self.owner: owner})
            self.model.give(key, {"owner": owner})
        schema = pa.schema([self.field(name) for name in ("site", "device", self.owner)])
        self.table.upsert(pa.Table.from_pylist(rows, schema))

    def set_static(self) -> None:
        owner, device = self.owner_value(), self.rng.randrange(self.devices)
        found = {k[:2] for k in self.model.rows if k[1] == device}
        for key in found:
            self.model.statics.setdefault(key, {"owner": None, "meta": None})["owner"] = owner
        text = None if owner is None else "'" + owner.replace("'", "''") + "'"
        self.table.update({self.owner: text}, f"device = {device}")

    def set_by_static(self) -> None:
        owner = self.rng.choice(OWNERS)
        keys = {k for k, v in self.model.statics.items() if v["owner"] == owner}
        for row in self.model.rows:
            if row[:2] in keys:
                self.model.rows[row] = 7.5
        self.table.update({"value": 7.5}, colonnade.col(self.owner) == owner)

    def delete(self) -> None:
        owner, at = self.rng.choice(OWNERS), self.rng.randrange(50)
        keys = {k for k, v in self.model.statics.items() if v["owner"] == owner}
        gone = [k for k in self.model.rows if k[:2] in keys and k[2] < at]
        for row in gone:
            del self.model.rows[row]
        self.table.delete((colonnade.col(self.owner) == owner) & (colonnade.col("at") < at))

    def delete_range(self) -> None:
        """Delete a range of rows unread; the static values of its partition stay."""
        (site, device), at = self.key(), self.rng.randrange(50)
        for row in [k for k in self.model.rows if k[:2] == (site, device) and k[2] < at]:
            del self.model.rows[row]
        col = colonnade.col
        where = (col("site") == site) & (col("device") == device) & (col("at") < at)
        self.table.delete_range(where)

    def forget(self) -> None:
        """Delete the static values of a partition; its rows stay."""
        site, device = self.key()
        self.model.statics.pop((site, device), None)
        col = colonnade.col
        self.table.statics.delete((col("site") == site) & (col("device") == device))

    def transact(self) -> None:
        owner, key = self.rng.choice(OWNERS), self.key()
        with colonnade.open_database(self.table.location.store.url).transaction() as tx:
            inside = tx.table(self.table.state.name)
            row = {"site": key[0], "device": key[1], "at": 99, "value": 1.0, self.owner: owner}
            names = ("site", "device", "at", "value", self.owner)
            inside.upsert(pa.Table.from_pylist([row], pa.schema([self.field(n) for n in names])))
            self.model.rows[key[0], key[1], 99] = 1.0
            self.model.give(key, {"owner": owner})
            shown = inside.scan(where=colonnade.col("at") == 99).to_arrow()
            wanted = [each for each in self.model.shown() if each["at"] == 99]
            assert ordered(shown, self.owner) == wanted

    def compact(self) -> None:
        self.table.optimize().executeCompaction()
        self.table.statics.optimize().executeCompaction()

    def rename(self) -> None:
        new = "owner" if self.owner == "holder" else "holder"
        self.table.alter(RenameColumn(self.owner, new))
        self.owner = new

    def restore(self) -> None:
        epoch = self.rng.choice([*self.known])
        self.table.restore(epoch=epoch)
        self.model = deepcopy(self.known[epoch])
        self.owner = next(n for n in ("owner", "holder") if n in self.table.schema.names)

    def step(self) -> None:
        steps = [self.add] * 5 + [self.give, self.set_static, self.set_by_static, self.delete]
        steps += [self.transact, self.compact, self.rename, self.delete_range, self.forget]
        steps += [self.restore] if self.known else []
        self.rng.choice(steps)()
        self.known[self.table.refresh().epoch] = deepcopy(self.model)
        self.check(self.table, self.owner)

    def check(self, table: ArrowTable, owner: str) -> None:
        assert ordered(table.scan().to_arrow(), owner) == self.model.shown()
        kept = table.statics.scan().to_arrow()
        found = {(r["site"], r["device"]): r for r in kept.to_pylist()}
        assert len(found) == kept.num_rows
        assert all(key in self.model.statics for key, row in found.items() if row[owner])
        for key, values in self.model.statics.items():
            row = found.get(key, {owner: None, "meta": None})
            assert (row[owner], row["meta"]) == (values["owner"], values["meta"])

    def check_history(self) -> None:
        for epoch, model in self.known.items():
            shown = self.table.scan(epoch=epoch).to_arrow()
            owner = "owner" if "owner" in shown.schema.names else "holder"
            assert ordered(shown, owner) == model.shown()


def ordered(table: pa.Table, owner: str) -> list[dict[str, Any]]:
    rows = table.rename_columns(["owner" if n == owner else n for n in table.schema.names])
    return sorted(rows.to_pylist(), key=lambda r: (r["site"], r["device"], r["at"]))


@pytest.mark.parametrize("seed", range(6))
def test_a_table_with_static_columns_holds_what_a_model_holds(tmp_path: Path, seed: int) -> None:
    life = Life(tmp_path / "readings", seed, rows=12, devices=4)
    for _ in range(25):
        life.step()
    life.check_history()
    reopened = colonnade.open(tmp_path / "readings")
    life.check(reopened, life.owner)
    report = colonnade.open_database(tmp_path / "readings").verify(depth=4)
    assert report.is_sound, str(report)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 108))
def test_large_tables_with_static_columns_hold_what_a_model_holds(
    tmp_path: Path, seed: int
) -> None:
    life = Life(tmp_path / "readings", seed, rows=70_000, devices=3_000)
    for _ in range(12):
        life.step()
    life.check_history()
    assert colonnade.open_database(tmp_path / "readings").verify(depth=4).is_sound


def test_static_values_are_compacted_and_vacuumed_with_their_table(tmp_path: Path) -> None:
    table = colonnade.create(
        tmp_path / "readings",
        SCHEMA,
        primary_key=["site", "device", "at"],
        static=["owner"],
        properties={"compaction.auto": "true", "compaction.min-rowsets": "4"},
    )
    for at in range(12):
        row = {"site": "a", "device": 1, "at": at, "value": 0.5, "owner": str(at), "meta": None}
        table.append(pa.Table.from_pylist([row], SCHEMA))
    for each in (table, table.statics):
        assert len(table.log.read_rowsets(each.state)) < 6
    done = table.vacuum(retention_hours=0)
    assert done.epochs_removed == table.refresh().floor > 10
    assert table.scan(["owner"]).to_arrow()["owner"].unique().to_pylist() == ["11"]
    assert colonnade.open_database(tmp_path / "readings").verify(depth=4).is_sound


def test_a_transaction_makes_a_table_and_its_static_values(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    with database.transaction() as tx:
        for name in ("a", "b"):
            tx.create(name, SCHEMA, primary_key=["device", "at"], static=["owner"])
            row = {"site": "", "device": 7, "at": 1, "value": None, "owner": name, "meta": None}
            tx.table(name).append(pa.Table.from_pylist([row], SCHEMA))
            tx.table(name).upsert(pa.table({"device": [7, 8], "owner": [name, "other"]}))
    assert database.tables() == ["a", "b"]
    [newest] = colonnade.open(tmp_path / "plant" / "a").history(1)
    assert newest.metrics["rows_inserted"] == 2  # rows of the tables, and no static values
    for name in ("a", "b"):
        table = colonnade.open(tmp_path / "plant" / name)
        assert table.scan().to_arrow()["owner"].to_pylist() == [name]
        assert table.statics.scan().to_arrow().num_rows == 2


NUMBERS = pa.schema(
    [
        ("k", pa.string()),
        ("n", pa.int64()),
        ("x", pa.float64()),
        ("list", pa.list_(pa.struct([("y", pa.float32())]))),
    ]
)


def test_static_values_of_nan_are_the_same_and_of_zeros_by_their_sign(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", NUMBERS, primary_key=["k", "n"], static=["x", "list"])

    def give(value: float) -> None:
        row = {"k": "a", "x": value, "list": [{"y": value}]}
        fields = [NUMBERS.field(each) for each in row]
        table.upsert(pa.Table.from_pylist([row], pa.schema(fields)))

    table.append(pa.table({"k": ["a", "a"], "n": [1, 2]}))
    give(float("nan"))
    written = table.statics.state.changed_epoch
    give(float("nan"))
    table.update({"x": "x", "list": "list"}, "k = 'a'")
    assert table.statics.state.changed_epoch == written
    for value in (-0.0, 0.0, -0.0):
        give(value)
        shown = table.scan(["x", "list"]).to_arrow().to_pylist()
        assert str(shown) == str([{"x": value, "list": [{"y": value}]}] * 2)


def test_a_transaction_replaces_a_table_and_its_static_values(tmp_path: Path) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    database.create_table("a", NUMBERS, primary_key=["k", "n"], static=["x"])
    database.table("a").append(pa.table({"k": ["a"], "n": [1], "x": [0.5]}))
    with database.transaction() as tx:
        tx.table("a").upsert(pa.table({"k": ["a"], "x": [1.5]}))
        tx.drop("a")
        tx.create("a", NUMBERS, primary_key=["k", "n"], static=["x"])
        tx.table("a").append(pa.table({"k": ["a", "b"], "n": [1, 1], "x": [None, 2.5]}))
        assert tx.table("a").scan(["x"]).to_arrow()["x"].to_pylist() == [None, 2.5]
    assert database.table("a").scan(["x"]).to_arrow()["x"].to_pylist() == [None, 2.5]
    assert database.verify(depth=4).is_sound


@pytest.mark.parametrize("reads", ["scan", "update", "delete"])
def test_serializable_transactions_conflict_with_static_values_they_read(
    tmp_path: Path, reads: str
) -> None:
    database = colonnade.create_database(tmp_path / "plant")
    table = database.create_table(
        "a",
        NUMBERS,
        primary_key=["k", "n"],
        static=["x"],
        properties={"isolation": "serializable"},
    )
    other = database.create_table("b", NUMBERS)
    table.append(pa.table({"k": ["a"], "n": [1], "x": [0.5]}))
    tx = database.transaction()
    if reads == "scan":
        tx.table("a").scan(["n"], where="x = 0.5").to_arrow()
    elif reads == "update":
        tx.table("a").update({"list": None}, "x = 0.5")
    else:
        tx.table("a").delete("x = 0.5")
    tx.table("b").append(pa.table({"k": ["a"]}))
    table.upsert(pa.table({"k": ["a"], "x": [1.5]}))
    with pytest.raises(ConflictError, match=r"a\.statics' that the statement reads changed"):
        tx.commit()
    assert other.scan().to_arrow().num_rows == 0


def test_an_append_that_meets_other_static_values_at_its_slot_is_compared_again(
    tmp_path: Path,
) -> None:
    keys = {"primary_key": ["device", "at"], "static": ["owner"]}
    table = colonnade.create(tmp_path / "readings", SCHEMA, **keys)  # type: ignore[arg-type]
    other = colonnade.open(tmp_path / "readings")

    def rows(first: int, owner: str) -> pa.Table:
        row = {"site": "", "device": 1, "value": 0.5, "owner": owner, "meta": None}
        rows = [{**row, "at": first + 3 * at} for at in range(1_000)]
        return pa.Table.from_pylist(rows, SCHEMA)

    table.append(rows(0, "ann"))

    def late() -> Iterator[pa.RecordBatch]:
        yield from rows(1, "ann").to_batches()
        other.append(rows(2, "ann"))

    table.append(pa.RecordBatchReader.from_batches(SCHEMA, late()))
    assert sorted(table.scan().to_arrow()["at"].to_pylist()) == list(range(3_000))
    assert set(table.scan().to_arrow()["owner"].to_pylist()) == {"ann"}


def test_a_writer_of_checkpoints_reads_static_values_from_the_newest_one(tmp_path: Path) -> None:
    store = open_store(tmp_path / "plant")
    create_database(store, lone_table=False)
    log = Log(store, checkpoint_interval=4)
    database = ArrowDatabase(store, log, log.read_head())
    schema = pa.schema([SCHEMA.field(name) for name in ("device", "at", "owner")])
    table = database.create_table("t", schema, primary_key=["device", "at"], static=["owner"])
    for at in range(14):
        owner = f"owner {at}"
        table.append(pa.table([[at % 3], [at], [owner]], schema=schema))
        tables = {each.name: each for each in table.snapshot.tables.values()}
        assert tables["t"].statics == tables["t.statics"]
        others = colonnade.open_database(tmp_path / "plant")
        others.table("t").statics.optimize().executeCompaction()
        others.vacuum(retention_hours=0)
        table.scan().to_arrow()
        shown = table.scan(["device", "owner"]).to_arrow().to_pylist()
        assert {each["owner"] for each in shown if each["device"] == at % 3} == {owner}
