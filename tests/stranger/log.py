"""The log of a database: its slots, checkpoints, and the states that they lead to."""

from __future__ import annotations

import base64
import hashlib
import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .stored import (
    EPOCH_LIMIT,
    FormatError,
    Json,
    Unsupported,
    checked,
    conform,
    definitions,
    get,
    need,
    unseal,
)


class Removed(Exception):
    """An epoch that retention has removed, or a database or table that does not exist."""


# --- states, and what an epoch changes in them ----------------------------------------------------


@dataclass
class RowSet:
    """A live RowSet: its entry and its deletion vector as the log states them."""

    id: int
    epoch: int
    entry: Json
    vector: Json | None


PLAIN = re.findall(
    r"\w+",
    """op table id name table_schema schema_id next_column_id statics_of properties comment
    created_epoch changed_epoch next_rowset_id segments dropped vectors range_tombstones batches
    stored_batches rowset_count row_count byte_count writer set_comment set_properties txn
    replace_rows rename_table alter_schema""",
)
"""Keys and operations that give a table no rule which a writer of rows has to keep."""


@dataclass
class Table:
    """What a reader of rows needs to know of a table. `rules` are what a writer has to keep."""

    id: str
    name: str
    fields: list[Json]
    created: int
    next_rowset: int = 0
    statics_of: str | None = None
    lifetimes: Json | None = None
    key: list[int] = field(default_factory=list)
    range_tombstones: list[Json] = field(default_factory=list)
    rowsets: dict[int, RowSet] = field(default_factory=dict)
    rules: set[str] = field(default_factory=set)

    def live(self, rowset: int) -> RowSet:
        """Return a live RowSet."""
        need(rowset in self.rowsets, f"table {self.id}: RowSet {rowset} is not live")
        return self.rowsets[rowset]

    def add(self, epoch: int, item: Json) -> None:
        """Add a RowSet under the next id."""
        number, self.next_rowset = self.next_rowset, self.next_rowset + 1
        self.rowsets[number] = RowSet(number, epoch, item["rowset"], item.get("vector"))


class State:
    """The state after an epoch, as far as a reader of rows needs it. `apply` makes the next one."""

    def __init__(self, segment: Callable[[Json, int, int], list[RowSet]]) -> None:
        self.segment = segment
        self.epoch, self.floor, self.time_ms = -1, 0, -1
        self.transaction: str | None = None
        self.clock_ms: int | None = None
        self.database, self.slot_block, self.ended = "", 0, False
        self.vacuum: Json = {"anchors": []}
        self.writer_features: set[str] = set()
        self.tables: dict[str, Table] = {}

    def named(self, name: str) -> Table | None:
        """Return the table of a name."""
        return next((t for t in self.tables.values() if t.name == name), None)

    def apply(self, body: Json) -> None:
        """Apply an epoch."""
        name, ops = f"epoch {body['epoch']}", body["ops"]
        need(not self.ended and body["epoch"] == self.epoch + 1, f"{name}: out of order")
        need(body.get("previous") == self.transaction, f"{name}: does not follow its previous")
        need(body["time_ms"] > self.time_ms, f"{name}: not after the time of its previous")
        need(0 <= body["base"] <= max(self.epoch, 0), f"{name}: base {body['base']}")
        first = [op["op"] for op in ops] == ["create_database"]
        need(first == (body["epoch"] == 0), f"{name}: only epoch 0 creates a database")
        self.epoch, self.transaction = body["epoch"], body["transaction"]
        self.time_ms, self.clock_ms = body["time_ms"], body.get("clock_ms")
        for op in ops:
            if "table" not in op or op["op"] == "create_table":
                self.change(op)
            else:
                need(op["table"] in self.tables, f"{name}: {op['op']} on no table")
                self.change_table(self.tables[op["table"]], op)

    def change(self, op: Json) -> None:
        """Apply an operation that is not on a table that exists."""
        match op["op"]:
            case "create_database":
                self.database, self.slot_block = op["database"], op["slot_block"]
                self.enable(op.get("reader_features", []), op.get("writer_features", []))
            case "enable_features":
                self.enable(op.get("reader", []), op.get("writer", []))
            case "drop_database":
                self.ended, self.tables = True, {}
            case "create_table":
                need(op["table"] not in self.tables, f"create_table: {op['table']} exists")
                self.rename(self.create(op, op["table"], self.epoch), op["name"])
            case "vacuum":
                anchored = [a["epoch"] for a in op.get("anchors", [])]
                need(max(anchored, default=0) == op["floor"] < self.epoch, "vacuum: its floor")
                self.floor, self.vacuum = max(self.floor, op["floor"]), {"anchors": []} | op

    def enable(self, reader: list[str], writer: list[str]) -> None:
        """Add features. This reader knows none."""
        if reader:
            raise Unsupported(f"the reader features {reader} are unknown; please upgrade")
        self.writer_features.update(writer)

    def create(self, stated: Json, number: str, epoch: int) -> Table:
        """Add an empty table, from `create_table` or from its record in a root."""
        table = Table(number, "", stated["table_schema"]["fields"], epoch)
        table.statics_of, table.lifetimes = stated.get("statics_of"), stated.get("lifetimes")
        table.key = stated.get("primary_key", [])
        stated = stated | stated.get("writer", {})
        table.rules = {key for key in stated if stated[key] and key not in PLAIN}
        self.tables[number] = table
        return table

    def rename(self, table: Table, name: str) -> None:
        """Give a table a name that is free."""
        need(not self.named(name), f"the table name {name} is taken")
        table.name = name

    def change_table(self, table: Table, op: Json) -> None:
        """Apply an operation on a table."""
        match op["op"]:
            case "drop_table":
                del self.tables[table.id]
            case "rename_table":
                self.rename(table, op["name"])
            case "alter_schema":
                table.fields = op["table_schema"]["fields"]
            case "set_lifetimes":
                table.lifetimes = op.get("lifetimes")
                table.rules.add("lifetimes")
            case "add_rowset":
                table.add(self.epoch, op)
            case "add_rowsets":
                for found in self.segment(op, 0, 0):
                    table.add(self.epoch, {"rowset": found.entry, "vector": found.vector})
            case "drop_rowset":
                for number in (i for a, b in op["rowsets"] for i in range(a, b + 1)):
                    del table.rowsets[table.live(number).id]
            case "add_deletion_vector":
                rowset, vector = table.live(op["rowset"]), op["vector"]
                old = (rowset.vector or {}).get("object")
                need(vector.get("predecessor") == old, f"RowSet {rowset.id}: another predecessor")
                rowset.vector = vector
            case "add_range_tombstone":
                new = {"epoch": self.epoch, "regions": op["regions"]}
                table.range_tombstones = [*table.range_tombstones, new]
            case "forget_range_tombstones":
                left = [t for t in table.range_tombstones if t["epoch"] > op["through"]]
                table.range_tombstones = left
            case "replace_column":
                replace_column(table.live(op["rowset"]), op["replacement"])
            case "compaction":
                for item in op["inputs"]:
                    del table.rowsets[table.live(item["rowset"]).id]
                for item in op["outputs"]:
                    table.add(self.epoch, item)
                    if item.get("vector", {}).get("cardinality") == item["rowset"]["rows"]:
                        del table.rowsets[table.next_rowset - 1]
            case "restore":
                table.fields = op.get("table_schema", {"fields": table.fields})["fields"]
                table.range_tombstones, table.key = [], op.get("primary_key", table.key)
                table.rules.add("restore")
            case other if other not in PLAIN:
                table.key = op["columns"] if other == "set_primary_key" else table.key
                table.rules.add(other)


def replace_column(rowset: RowSet, new: Json) -> None:
    """Let a RowSet take columns from a replacement."""
    parts = [
        old | {"columns": [c for c in old["columns"] if c not in new["columns"]]}
        for old in rowset.entry.get("replacements", [])
    ]
    left = [part for part in parts if part["columns"]]
    rowset.entry = rowset.entry | {"replacements": [*left, new]}


def statics_id(table: str) -> str:
    """Return the id of the table of static values."""
    return hashlib.sha256(f"static values of {table}".encode()).hexdigest()[:16]


# --- entry segments -------------------------------------------------------------------------------

PLACES = ("directory", "packed", "inline")
SIZES = {"u8": "B", "u16": "H", "u32": "I", "i64": "q"}


def integers(array: Json, count: int) -> list[int]:
    """Decode an array of integers."""
    data, base = base64.b64decode(array.get("data", "")), int(array.get("base", "0"))
    if array["type"] == "const":
        return [base] * count
    code = f"<{count}{SIZES[array['type']]}"
    need(len(data) == struct.calcsize(code), "an array of another length")
    return [base + number for number in struct.unpack(code, data)]


def segment_rowsets(body: Json, first: int, epoch: int) -> Iterator[RowSet]:
    """Decode an entry segment. Statistics are left out, and what only writers need."""
    count, objects = body["count"], base64.b64decode(body["objects"]).hex()
    stored = {
        k: v for k, v in body.items() if isinstance(v, dict) and isinstance(v.get("type"), str)
    }
    arrays = {key: integers(array, count) for key, array in stored.items()}
    for i in range(count):
        one = {key: values[i] for key, values in arrays.items()}
        entry: Json = {"object": objects[32 * i : 32 * i + 32], "place": PLACES[one["places"]]}
        entry |= {key: one[key] for key in ("rows", "bytes")}
        entry["cuts"] = one["cuts"] or body["irregular_cuts"][str(i)]
        entry["footer"] = {"length": one["footer_lengths"], "crc32c": one["footer_crc32cs"]}
        if one["clean_epochs"] >= 0:
            entry["clean_epoch"] = one["clean_epochs"]
        if one["first_written_ms"] >= 0:
            entry["written_ms"] = [one["first_written_ms"], one["last_written_ms"]]
        entry |= {k: body[k][str(i)] for k in ("data", "replacements") if str(i) in body.get(k, {})}
        conform(entry, definitions()["RowSetEntry"], f"RowSet {entry['object']}")
        vector = body.get("vectors", {}).get(str(i))
        yield RowSet(first + one["ids"], epoch + one["epochs"], entry, vector)


# --- the log --------------------------------------------------------------------------------------


class Log:
    """The slots, marks and checkpoints of a database in a local folder."""

    def __init__(self, path: str) -> None:
        self.root = Path(path).resolve()
        zero = self.slot(0)
        if zero is None:
            if get(self.root, "_manifest/hint.json") or any(map(self.slot, range(1, 65))):
                raise FormatError("epoch 0 is missing: the database is damaged")
            raise Removed(f"{path} is not a database")
        self.zero = zero

    def slot(self, number: int) -> Json | None:
        """Return the epoch in a slot."""
        name = f"_manifest/{number:020}.json"
        data = get(self.root, name, EPOCH_LIMIT)
        body = unseal(data, name, "Epoch") if data is not None else None
        need(body is None or body["epoch"] == number, f"{name}: another number")
        return body

    def taken(self, slot: int) -> bool:
        """Say whether a slot is taken."""
        return get(self.root, f"_manifest/{slot:020}.json") is not None

    def marked(self, block: int) -> bool:
        """Say whether a slot block has a mark. Its name says everything."""
        database = self.zero["ops"][0]["database"]
        return get(self.root, f"_manifest/freed-{database}-{block:020}.json") is not None

    def freed(self, slot: int) -> bool:
        """Say whether a slot may have been freed."""
        return self.marked(slot // self.zero["ops"][0]["slot_block"])

    # The objects of checkpoints

    def whole(self, name: str, read: Callable[[bytes | None], Json]) -> Json:
        """Return what an object of a checkpoint says, or what its copy says."""
        try:
            return read(get(self.root, f"_manifest/checkpoint/{name}.json"))
        except FormatError:
            return read(get(self.root, f"_manifest/copy/{name}.json"))

    def object(self, name: str, check: Json, kind: str) -> Json:
        """Return the body of an object of a checkpoint."""
        return self.whole(name, lambda data: unseal(checked(data, check, name), name, kind))

    def map(self, ref: Json) -> Json:
        """Return all entries of a map."""
        entries: Json = {}
        arrays = [integers(ref[k], ref["pages"]) for k in ("bundle_indexes", "offsets", "lengths")]
        for index, offset, length in zip(*arrays, strict=True):
            part = slice(offset, offset + length)

            def page(data: bytes | None, part: slice = part) -> Json:
                return unseal((data or b"")[part], "page", "Page")

            if length:
                entries |= self.whole(ref["bundles"][index]["object"], page)["entries"]
        need(len(entries) == ref["count"], "a map of another count")
        return entries

    def segment(self, ref: Json, first: int, epoch: int) -> list[RowSet]:
        """Return the RowSets of an entry segment."""
        table, stated = ref["table"], ref["segment"]
        body = self.object(stated["object"], stated["check"], "EntrySegmentBody")
        need(body["table"] == table, f"{stated['object']}: the segment of another table")
        found = list(segment_rowsets(body, first, epoch))
        counts = len(found), sum(one.entry["rows"] for one in found)
        need(counts == (stated["rowset_count"], stated["row_count"]), f"{stated['object']}: counts")
        return found

    def checkpoint(self, ref: Json) -> State:
        """Return the state of a checkpoint."""
        root = self.object(ref["root"], ref["check"], "Root")
        need(root["checkpoint"] == ref["epoch"], f"{ref['root']}: of another epoch")
        need(root["database"] == self.zero["ops"][0]["database"], f"{ref['root']}: foreign")
        state = State(self.segment)
        state.change(root | {"op": "create_database"})
        state.writer_features.update(root.get("writer", {}).get("features", []))
        state.epoch, state.transaction = root["checkpoint"], root["transaction"]
        state.time_ms, state.clock_ms = root["time_ms"], root.get("clock_ms")
        state.floor, state.vacuum = root["floor"], root
        stored = root.get("stored_tables")
        for record in self.map(stored["records"]).values() if stored else root["tables"]:
            self.table(state, record)
        return state

    def table(self, state: State, record: Json) -> None:
        """Add the table of a record to a state, with all its RowSets."""
        table = state.create(record, record["id"], record["created_epoch"])
        table.name, table.next_rowset = record["name"], record["next_rowset_id"]
        table.range_tombstones = record.get("range_tombstones", [])
        gone = {i for first, last in record["dropped"] for i in range(first, last + 1)}
        found: list[RowSet] = []
        for part in record["segments"]:
            found += self.segment(part | {"table": table.id}, part["first_id"], part["epoch"])
        for rowset in sorted(found, key=lambda one: one.id):
            rowset.vector = record["vectors"].get(str(rowset.id), rowset.vector)
            if rowset.id not in gone:
                table.rowsets[rowset.id] = rowset
        need(len(table.rowsets) == record["rowset_count"], f"table {table.id}: RowSets")

    # States

    def begin(self) -> State:
        """Return the state of epoch 0."""
        state = State(self.segment)
        state.apply(self.zero)
        return state

    def hinted(self) -> State | None:
        """Return the state that the hint leads to, or None where it cannot be used."""
        data = get(self.root, "_manifest/hint.json")
        try:
            state = self.checkpoint(unseal(data or b"", "hint", "Hint"))
            body = self.slot(state.epoch)
        except FormatError:
            return None
        lost = body is None and not self.freed(state.epoch)
        need(not lost, f"epoch {state.epoch} is lost: the hint proves it")
        return state if body and body["transaction"] == state.transaction else None

    def floored(self, tried: Json | None = None) -> State:
        """Return the state at the floor, which the last vacuum behind the last mark tells."""
        block = 0
        while self.marked(block):
            block += 1
        first = block * self.zero["ops"][0]["slot_block"]
        vacuums = [op for op in self.operations(max(first, 1)) if op["op"] == "vacuum"]
        floor = vacuums[-1]["floor"] if vacuums else 0
        need(floor or not first, "the last vacuum is lost")
        if not floor:
            return self.begin()
        anchor = next(a for a in vacuums[-1]["anchors"] if a["epoch"] == floor)
        try:
            return self.checkpoint(anchor)
        except FormatError:
            if anchor == tried:
                raise
        return self.floored(anchor)  # a later vacuum may have raised the floor meanwhile

    def operations(self, slot: int) -> Iterator[Json]:
        """Return the operations of the epochs from a slot on. Some may be damaged or lost."""
        while any(self.taken(slot + step) for step in range(65)):
            with suppress(FormatError):
                yield from (self.slot(slot) or self.zero)["ops"]
            slot += 1

    def behind(self, slot: int) -> bool:
        """Say whether something behind a free slot shows that its epoch was removed or lost."""
        if slot > 1:
            return any(self.taken(slot + step) for step in (1, 2, 4, 8, 16, 32, 64))
        names = {path.name for path in (self.root / "_manifest").iterdir()}
        mark = f"freed-{self.zero['ops'][0]['database']}-"
        return any(name.startswith((mark, "00000")) for name in names - {f"{0:020}.json"})

    def follow(self, state: State, until: int | None = None) -> State:
        """Apply the epochs after a state, up to one or up to the head."""
        while until is None or state.epoch < until:
            slot = state.epoch + 1
            damage = FormatError(f"epoch {slot} is missing")
            try:
                body = self.slot(slot)
                if body is not None:
                    state.apply(body)
                    continue
                behind = self.behind(slot)
                if not self.freed(slot):
                    if not behind and until is None:
                        return state
                    if self.taken(slot):
                        continue
            except FormatError as error:
                damage = error
            state = self.floored()
            if state.epoch < slot:
                raise damage
        return state

    def head(self) -> State:
        """Return the newest state."""
        return self.follow(self.hinted() or self.begin())

    def at(self, head: State, epoch: int) -> State:
        """Return the state of an epoch that can be read."""
        if epoch == head.epoch:
            return head
        anchors = list(head.vacuum["anchors"])
        if epoch < head.floor and "anchor_list" in head.vacuum:
            ref = head.vacuum["anchor_list"]
            anchors += self.object(ref["object"], ref["check"], "AnchorListBody")["anchors"]
        for anchor in anchors:
            if anchor["epoch"] == epoch:
                return self.checkpoint(anchor)
        if not head.floor <= epoch < head.epoch:
            raise Removed(f"epoch {epoch} cannot be read, only those from {head.floor} on")
        floor = next((a for a in anchors if a["epoch"] == head.floor), None)
        state = self.follow(self.checkpoint(floor) if floor else self.begin(), epoch)
        if state.epoch != epoch or self.freed(epoch):
            raise Removed(f"epoch {epoch} was removed, the floor is {state.epoch}")
        return state
