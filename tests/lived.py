"""A table and a model of it in dictionaries: every epoch must show what the model shows.

Random statements change the table and the model, under a clock that the life moves. The model
also knows which rows and values may be purged. So the test finds a purge before its grace, a row
that is visible again, a lost row and a static value of another time.
"""

from __future__ import annotations

import random
from copy import copy
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa

from colonnade import AddColumn, DropColumn, RenameColumn
from colonnade.manifests.store import ObjectStore
from colonnade.tableformat.compaction.purge import purge_table
from colonnade.tableformat.predicate import parse_predicate
from colonnade.tableformat.statements.ranges import is_range
from colonnade.tableformat.table.alteration import AlterProperties
from colonnade.tableformat.types.input.column_types import as_table_schema
from tests.clocked import HOUR_MS, Clocked, moment
from tests.keyed_world import is_older
from tests.merge_model import MergeModel, Row

KEY, PARTITION = ("site", "device", "at"), ("site", "device")
OWN, STATIC = ("ts", "gone", "seq", "note", "parts"), ("owner", "moved", "meta")
SCHEMA = pa.schema(
    [
        pa.field("site", pa.string(), nullable=False),
        pa.field("device", pa.int64(), nullable=False),
        pa.field("at", pa.int32(), nullable=False),
        ("ts", pa.timestamp("us", tz="UTC")),
        ("gone", pa.timestamp("us")),
        ("seq", pa.int64()),
        ("note", pa.string()),
        ("parts", pa.list_(pa.struct([("n", pa.int64())]))),
        ("owner", pa.string()),
        ("moved", pa.int64()),
        ("meta", pa.struct([("tags", pa.list_(pa.string())), ("size", pa.decimal128(38, 5))])),
    ]
)
SITES = ("", "a", "ß", "🦊 x", "`\"'")
SIZES = (Decimal("0.00000"), Decimal("-1234567890123456789012345678.45678"))
OWNERS = ("ann", "bo", "", "o'neil", "ümit")
LONG_AGO = datetime(1970, 1, 2, tzinfo=timezone.utc)
"""A time at which nothing has expired, so that all stored rows are read."""

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Lives:
    """The lifetimes of the table, in hours; None: none."""

    rows: int | None = None
    by_column: bool = False
    expires: bool = False
    note: int | None = None
    grace: int = 24

    def properties(self, note: str) -> dict[str, str]:
        """Return the properties of the table, whose column `note` has this name."""
        found = {
            "ttl": self.rows and f"{self.rows} hours",
            "ttl.column": "ts" if self.by_column and (self.rows or self.note) else None,
            "ttl.expires": "gone" if self.expires else None,
            f"ttl.{note}": self.note and f"{self.note} hours",
            "ttl.grace": f"{self.grace} hours" if self.grace else "none",
        }
        some = self.rows or self.note or self.expires
        return {name: text for name, text in found.items() if text} if some else {}

    def is_expired(self, row: Row, now: datetime) -> bool:
        """Return whether a row has expired at a time."""
        gone = row["gone"] and row["gone"].replace(tzinfo=timezone.utc)
        return self._old(self.rows, row, now) or bool(self.expires and gone and gone <= now)

    def loses_note(self, row: Row, now: datetime) -> bool:
        """Return whether the note of a row has expired at a time."""
        return self._old(self.note, row, now)

    def _old(self, hours: int | None, row: Row, now: datetime) -> bool:
        time = row["ts"] if self.by_column else row["written"]
        return hours is not None and time is not None and time + timedelta(hours=hours) <= now


@dataclass(frozen=True)
class Model:
    """What the table holds: stored rows by key, deletions of keys, and values by partition.

    `names` has the present names of columns that are renamed.
    """

    lives: Lives
    rows: dict[Key, Row] = field(default_factory=dict)
    deleted: dict[Key, int] = field(default_factory=dict)
    statics: dict[Key, Row] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=lambda: {"note": "note", "owner": "owner"})

    def copy(self) -> Model:
        """Return a model that a statement may change."""
        return replace(
            self,
            rows=copy(self.rows),
            deleted=copy(self.deleted),
            statics=copy(self.statics),
            names=copy(self.names),
        )

    def visible(self, now: datetime) -> dict[Key, Row]:
        """Return the rows that a statement sees at a time, with their own columns."""
        return {
            key: {**row, "note": None if self.lives.loses_note(row, now) else row["note"]}
            for key, row in self.rows.items()
            if not self.lives.is_expired(row, now)
        }

    def shown(self, now: datetime) -> dict[Key, Row]:
        """Return the rows that a reader sees at a time, with all columns."""
        nothing: Row = dict.fromkeys(STATIC)
        return {
            key: {n: v for n, v in row.items() if n != "written"}
            | self.statics.get(key[:2], nothing)
            for key, row in self.visible(now).items()
        }

    def named(self, name: str) -> str:
        """Return the present name of a column."""
        return self.names.get(name, name)


class Life:
    """A table and its model. The seed chooses keys, order, partitions, sequences and lifetimes."""

    def __init__(
        self, seed: int, rows: int = 12, devices: int = 4, store: ObjectStore | None = None
    ) -> None:
        self.random = random.Random(seed)
        pick = self.random.choice
        self.most, self.devices, self.count = rows, devices, 0
        self.keyed = pick([True, True, False])
        by_column = pick([False, True])
        self.model = Model(pick([Lives(), *[self.new_lives(by_column)] * 4]))
        rules = pick([{}, {"sequence.owner": "moved"}])
        if self.keyed:
            rules |= pick([{}, {"sequence": "seq"}]) | {"onDuplicate": "merge"}
        of_rows = {name: "seq" for name in OWN if name != "seq"} if "sequence" in rules else {}
        self.merging = MergeModel(sequences=of_rows)
        sequences = {"owner": "moved"} if "sequence.owner" in rules else {}
        self.merging_statics = MergeModel(dict.fromkeys(STATIC, "coalesce"), sequences)
        self.world = Clocked(
            SCHEMA,
            self.model.lives.properties("note") | rules,
            store=store,
            primary_key=KEY if self.keyed else (),
            sort_key=pick([(), ("ts",)] if self.keyed else [(), KEY, ("device", "at")]),
            partition_by=pick([(), ("site",), PARTITION]),
            static=STATIC,
            partition_key=PARTITION,
        )
        self.table: Any = self.world.table
        self.known: dict[int, Model] = {}

    def new_lives(self, by_column: bool) -> Lives:
        pick = self.random.choice
        found = Lives(
            pick([None, 2, 5, 11]),
            by_column,
            pick([False, True]),
            pick([None, 1, 4]),
            pick([0, 3]),
        )
        return found if found.properties("note") else replace(found, rows=5)

    def now(self) -> datetime:
        return moment(self.world.log.reader.query_ms(self.world.log.reader.read_head()))

    def hours(self, least: int, most: int) -> datetime:
        return self.now() + timedelta(hours=self.random.randint(least, most))

    def some(self, value: Any) -> Any:
        return None if self.random.random() < 0.25 else value

    def partition(self) -> Key:
        return self.random.choice(SITES), self.random.randrange(self.devices)

    def value(self, name: str) -> Any:
        pick = self.random.choice
        match name:
            case "ts":
                return self.some(self.hours(-3, 3))
            case "gone":
                return self.some(self.hours(-1, 6).replace(tzinfo=None))
            case "seq" | "moved":
                return self.some(self.random.randrange(9))
            case "parts":
                return pick([None, [], [None, {"n": 1}], [{"n": None}] * 3])
            case "meta":
                size = pick(
                    [None, Decimal("0.00000"), Decimal("1234567890123456789012345678.45678")]
                )
                return self.some(
                    {"tags": pick([None, [], [None, "x"], ["long" * 20]]), "size": size}
                )
            case "owner":
                return self.some(pick(OWNERS))
        return self.some(pick(["", "a note", "ß" * 9]))

    def given(self, names: tuple[str, ...], sequences: dict[str, str]) -> list[str]:
        """Return some columns, and the sequences that they need."""
        chosen = {name for name in names if self.random.random() < 0.6}
        return [name for name in names if name in chosen | {sequences.get(n) for n in chosen}]

    def data(self, rows: list[Row], names: list[str]) -> pa.Table:
        fields = [SCHEMA.field(name).with_name(self.model.named(name)) for name in names]
        arrays = [pa.array([row[f] for row in rows], SCHEMA.field(f).type) for f in names]
        return pa.Table.from_arrays(arrays, schema=pa.schema(fields))

    def write(self) -> None:
        own = self.given(OWN, {**self.merging.sequences})
        names = [*KEY, *own, *self.given(STATIC, {**self.merging_statics.sequences})]
        rows, now = [], self.now()
        for _ in range(self.random.choice([1, self.most // 2, self.most])):
            self.count += 1
            at = self.random.randrange(40) if self.keyed else self.count
            key = (*self.partition(), at)
            rows.append(dict(zip(KEY, key, strict=True)) | {n: self.value(n) for n in names[3:]})
        upserts = self.keyed and self.random.random() < 0.5
        (self.table.upsert if upserts else self.table.append)(self.data(rows, names))
        visible = self.model.visible(now)
        batch: dict[Key, list[Row]] = {}
        for row in rows:
            key = tuple(row[n] for n in KEY)
            if not is_older(row.get("seq"), self.model.deleted.get(key)):
                batch.setdefault(key, []).append({n: row[n] for n in own})
        for key, given in batch.items():
            merged = self.merging.merge(visible.get(key), given, dict.fromkeys(OWN))
            self.model.rows[key] = dict(zip(KEY, key, strict=True)) | merged | {"written": now}
        self.give(rows)

    def give(self, rows: list[Row]) -> None:
        """Merge the static values of a batch into the model."""
        by_key: dict[Key, list[Row]] = {}
        for row in rows:
            given = {name: row[name] for name in STATIC if name in row}
            by_key.setdefault((row["site"], row["device"]), []).append(given)
        for key, values in by_key.items():
            before = self.model.statics.get(key)
            merged = self.merging_statics.merge(before, values, dict.fromkeys(STATIC))
            self.model.statics[key] = merged

    def write_statics(self) -> None:
        """Set static values of partitions, which may have no rows."""
        names = self.given(STATIC, {**self.merging_statics.sequences}) or ["meta"]
        rows = [
            dict(zip(PARTITION, self.partition(), strict=True))
            | {name: self.value(name) for name in names}
            for _ in range(self.random.randint(1, 5))
        ]
        data = self.data(rows, [*PARTITION, *names])
        if self.keyed and self.random.random() < 0.7:
            self.table.upsert(data)
            self.give(rows)
            return
        self.table.statics.upsert(data)
        for row in rows:
            key = row.pop("site"), row.pop("device")
            before = self.model.statics.get(key, dict.fromkeys(STATIC))
            self.model.statics[key] = {**before, **row}

    def forget_statics(self) -> None:
        site, device = self.partition()
        self.table.statics.delete(f"site = {quoted(site)} AND device >= {device}")
        for key in [each for each in self.model.statics if each[0] == site and each[1] >= device]:
            del self.model.statics[key]

    def hit(self) -> tuple[str, list[Key]]:
        """Return a condition, and the keys of the rows that meet it."""
        low = self.random.randrange(self.count + 1 if not self.keyed else 40)
        high, owner = low + self.random.choice([1, 20, 400]), self.value("owner")
        text, shown = f"at >= {low} AND at < {high}", self.model.shown(self.now())
        keys = [key for key in shown if low <= key[2] < high]
        if self.random.random() < 0.5:
            equals = "IS NULL" if owner is None else f"= {quoted(owner)}"
            text += f" AND `{self.model.named('owner')}` {equals}"
            keys = [key for key in keys if shown[key]["owner"] == owner]
        return text, keys

    def update(self) -> None:
        (text, keys), now = self.hit(), self.now()
        visible = self.model.visible(now)
        changes = [("note", "set"), ("owner", self.value("owner")), ("meta", None)]
        changes = self.random.sample(changes, self.random.randint(1, 3))
        given = {self.model.named(name): quoted(value) for name, value in changes}
        self.table.update(given, text)
        for name, value in changes:
            for key in keys:
                if name == "note":
                    self.model.rows[key] = {**visible[key], "note": value, "written": now}
                else:
                    before = self.model.statics.get(key[:2], dict.fromkeys(STATIC))
                    self.model.statics[key[:2]] = {**before, name: value}

    def delete(self) -> None:
        text, keys = self.hit()
        done = self.table.delete(text, count_rows=True)
        assert done.rows_deleted == len(keys)
        for key in keys:
            del self.model.rows[key]

    def delete_range(self) -> None:
        """Delete a range, a partition, a prefix of it or a set of keys, if the table has one."""
        (site, device), at = self.partition(), self.random.randrange(40)
        where = f"site = {quoted(site)}"
        keys = {key for key in self.model.rows if key[0] == site}
        kind = self.random.randrange(4)
        if kind == 1:
            where += f" AND device BETWEEN {device} AND {device + 1}"
            keys = {key for key in keys if device <= key[1] <= device + 1}
        elif kind == 2:
            where += f" AND device = {device} AND at >= {at}"
            keys = {key for key in keys if key[1] == device and key[2] >= at}
        elif kind == 3:
            some = [key for key in self.model.rows if self.random.random() < 0.2][:50]
            texts = [f"site = {quoted(s)} AND device = {d} AND at = {a}" for s, d, a in some]
            where, keys = " OR ".join(f"({each})" for each in texts), {*some}
        self.table.refresh()
        if where and is_range(self.table._state, parse_predicate(where)):
            self.table.delete_range(where)
            for key in keys:
                del self.model.rows[key]

    def delete_keys(self) -> None:
        if not self.keyed:
            return
        visible, sequence = self.model.visible(self.now()), bool(self.merging.sequences)
        rows = [
            dict(zip(KEY, key, strict=True)) | {"seq": self.value("seq")}
            for key in dict.fromkeys(
                [(*self.partition(), self.random.randrange(40)) for _ in range(5)]
                + [key for key in visible if self.random.random() < 0.1]
            )
        ]
        self.table.delete_keys(self.data(rows, [*KEY, *(["seq"] if sequence else [])]))
        for row in rows:
            key, seq = tuple(row[n] for n in KEY), row["seq"]
            if key in visible and not (sequence and is_older(seq, visible[key]["seq"])):
                del self.model.rows[key]
            if sequence and seq is not None and is_older(self.model.deleted.get(key), seq):
                self.model.deleted[key] = seq

    def wait(self) -> None:
        self.world.now_ms += self.random.choice([1, HOUR_MS // 2, 2 * HOUR_MS, 6 * HOUR_MS])

    def alter(self) -> None:
        if self.model.lives == Lives():
            return
        # Rows would live from the change on if their times were counted from another start.
        before, after = self.model.lives, self.new_lives(self.model.lives.by_column)
        if not (before.rows or before.note) or not (after.rows or after.note):
            after = replace(before, grace=after.grace)
        note = self.model.named("note")
        gone = before.properties(note).keys() - after.properties(note).keys()
        self.table.alter(AlterProperties(after.properties(note), tuple(gone)))
        self.model = replace(self.model, lives=after)

    def rename(self) -> None:
        old = self.random.choice(["note", "owner"])
        new = self.random.choice([old, f"{old} 2", f"{old}3"])
        if new != self.model.named(old):
            self.table.alter(RenameColumn(self.model.named(old), new))
            self.model.names[old] = new

    def begin_static_column_again(self) -> None:
        column = as_table_schema(SCHEMA).field("meta").model_copy(update={"static": True})
        self.table.alter(DropColumn("meta"))
        self.table.alter(AddColumn(column))
        for key, values in self.model.statics.items():
            self.model.statics[key] = {**values, "meta": None}

    def purge(self) -> None:
        if self.random.random() < 0.5:
            purge_table(self.world.log, self.world.log.reader.read_head(), self.table._state.id)
        else:
            begun = self.table.optimize().option("min-rowsets", 2)
            begun.option("deleted-share", 0).executeCompaction()
            assert not self.table._state.range_tombstones
        self.table.statics.optimize().option("min-rowsets", 2).executeCompaction()

    def transact(self) -> None:
        with self.world.database.transaction() as tx:
            table, self.table = self.table, tx.table("t")
            self.write()
            self.update()
            self.compare_rows(self.table.scan(), self.model.shown(self.now()))
        self.table = table

    def restore(self) -> None:
        if self.known:
            epoch = self.random.choice([*self.known])
            self.table.restore(epoch=epoch)
            self.model = replace(self.known[epoch].copy(), lives=self.model.lives)

    def step(self) -> None:
        often = [self.write] * 4 + [self.wait, self.purge] * 3 + [self.delete_range] * 2
        seldom = [
            self.update,
            self.write_statics,
            self.forget_statics,
            self.delete,
            self.delete_keys,
        ]
        seldom += [self.alter, self.rename, self.begin_static_column_again]
        first = self.table.refresh().epoch + 1
        self.random.choice(often + seldom + [self.transact, self.restore])()
        self.learn_what_is_purged()
        head = self.table.refresh().epoch
        # A change of two epochs, such as a purge and its compaction, shows the same after both.
        if first <= head:
            self.known[head] = self.model.copy()
        self.compare(self.now())

    def learn_what_is_purged(self) -> None:
        """Leave out rows and notes that are no longer stored, if their grace has passed."""
        lives, names = self.model.lives, [*KEY, self.model.named("note")]
        found = self.table.scan(names, seen_at=LONG_AGO).to_arrow().to_pylist()
        stored = {tuple(row[n] for n in KEY): row[names[3]] for row in found}
        assert len(stored) == len(found), "a row is stored twice"
        assert stored.keys() <= self.model.rows.keys(), "a row is there again"
        cutoff = self.now() - timedelta(hours=lives.grace)
        for key, row in [*self.model.rows.items()]:
            if key not in stored:
                assert lives.is_expired(row, cutoff), f"{row} is lost"
                del self.model.rows[key]
            elif stored[key] != row["note"]:
                assert stored[key] is None, f"{stored[key]} is stored in place of {row}"
                assert lives.loses_note(row, cutoff), f"the note of {row} is lost"
                self.model.rows[key] = {**row, "note": None}

    def compare(self, now: datetime, epoch: int | None = None) -> None:
        """Compare the table with the model as a reader sees both at a time."""
        shown = self.model.shown(now)
        self.compare_rows(self.table.scan(epoch=epoch), shown)
        owner = self.model.named("owner")
        found = self.table.scan(["at"], f"`{owner}` = 'bo' OR meta IS NULL", epoch=epoch)
        rows = [row for row in shown.values() if row["owner"] == "bo" or row["meta"] is None]
        assert found.to_arrow().num_rows == len(rows)
        statics = self.table.statics.scan(epoch=epoch).to_arrow().to_pylist()
        kept = {(row.pop("site"), row.pop("device")): row for row in statics}
        assert len(kept) == len(statics)
        for key in kept.keys() | self.model.statics.keys():
            wanted = {self.model.named(n): v for n, v in self.model.statics.get(key, {}).items()}
            some = kept.get(key, {})
            nothing: Row = dict.fromkeys(wanted or some)
            assert {**nothing, **some} == {**nothing, **wanted}

    def compare_rows(self, scan: Any, shown: dict[Key, Row]) -> None:
        names = [self.model.named(name) for name in SCHEMA.names]
        found = scan.to_arrow().select(names).rename_columns(SCHEMA.names).to_pylist()
        rows = {tuple(row[n] for n in KEY): row for row in found}
        assert len(rows) == len(found), "a row is there twice"
        other = [key for key in rows.keys() | shown.keys() if rows.get(key) != shown.get(key)]
        assert not other, f"{rows.get(other[0])} is shown in place of {shown.get(other[0])}"

    def compare_all(self) -> None:
        """Compare every epoch, at its own time, and verify all bytes."""
        last = self.model
        for epoch, model in self.known.items():
            self.model = model
            self.compare(moment(self.world.log.reader.read_at(epoch).time_ms), epoch)
        self.model = last
        report = self.world.database.verify(depth=4)
        assert report.is_sound, str(report)


def quoted(value: str | None) -> str:
    """Return a literal of SQL."""
    return "NULL" if value is None else "'" + value.replace("'", "''") + "'"
