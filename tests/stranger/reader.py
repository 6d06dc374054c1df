"""A reader of the table format, written from its specification alone: a worked example.

`open(path)` finds the newest epoch. `.table(name).read(epoch)` returns the visible rows as Arrow.
It reads a local folder, loads all entry segments of a state at once, and prunes nothing.
"""

from __future__ import annotations

import base64
import decimal
import hashlib
import json
import os
import re
import stat
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyroaring

Json = dict[str, Any]
EPOCH_LIMIT = 8 << 20
LARGE = 1 << 30
DAY_MS = 86_400_000
WRITTEN = 2_147_483_001  # id of the hidden column `_written`


class FormatError(Exception):
    """Corruption: what is stored breaks a rule of the format."""


class Unsupported(FormatError):
    """Something that a later version knows; an upgrade may help."""


class Removed(Exception):
    """An epoch that retention has removed, or a database or table that does not exist."""


def need(condition: object, message: str) -> None:
    """Report corruption unless the condition holds."""
    if not condition:
        raise FormatError(message)


# --- bytes: CRC32C, envelopes, the folder ---------------------------------------------------------


def _crc_step(value: int, bits: int) -> int:
    """Shift bits out of the register of a CRC32C."""
    for _ in range(bits):
        value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    return value


_TABLE = [_crc_step(pair, 16) for pair in range(1 << 16)]


def crc32c(data: bytes) -> int:
    """Return the CRC32C (Castagnoli), two bytes at a step."""
    crc, even = 0xFFFFFFFF, len(data) & ~1
    for (pair,) in struct.iter_unpack("<H", memoryview(data)[:even]):
        crc = _TABLE[(crc ^ pair) & 0xFFFF] ^ (crc >> 16)
    return (_crc_step(crc ^ data[-1], 8) if len(data) > even else crc) ^ 0xFFFFFFFF


def _object(pairs: list[tuple[str, Any]]) -> Json:
    """Make a JSON object. A key that occurs twice, or that is null, is corruption."""
    found = dict(pairs)
    need(len(pairs) == len(found) and None not in found.values(), "a JSON key is null or twice")
    return found


def _no_constant(text: str) -> None:
    raise FormatError(f"{text} is not JSON")


def unseal(data: bytes, name: str) -> Json:
    """Check an envelope and return its body."""
    head = re.match(rb'\{"crc32c":"([0-9a-f]{8})","body":', data)
    if head is None or not data.endswith(b"}\n"):
        raise FormatError(f"{name}: no envelope")
    body = data[28:-2]
    need(crc32c(body) == int(head[1], 16), f"{name}: damaged body")
    try:
        found = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
    except ValueError as error:
        raise FormatError(f"{name}: {error}") from None
    need(isinstance(found, dict), f"{name}: the body is no object")
    return found


def checked(data: bytes | None, check: Json, name: str) -> bytes:
    """Compare bytes with the length and the checksum that refer to them."""
    if data is None:
        raise FormatError(f"{name}: missing")
    need(len(data) == check["length"] and crc32c(data) == check["crc32c"], f"{name}: damaged")
    return data


class Folder:
    """The objects below the root of a database; no symbolic link is followed."""

    def __init__(self, root: str) -> None:
        self.root = root

    def get(self, name: str, limit: int = 2 * LARGE) -> bytes | None:
        """Return an object, or None where there is none."""
        folder = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            *parents, last = name.split("/")
            for parent in parents:
                below = os.open(parent, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=folder)
                os.close(folder)
                folder = below
            file = os.open(last, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
        except FileNotFoundError:
            return None
        finally:
            os.close(folder)
        with os.fdopen(file, "rb") as stream:
            status = os.fstat(file)
            need(stat.S_ISREG(status.st_mode) and status.st_size <= limit, f"{name}: refused")
            return stream.read()


# --- the JSON Schema of the specification ---------------------------------------------------------

SCHEMA = Path(__file__).parents[2] / "docs" / "spec" / "schema.json"
KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool}
KINDS["null"] = type(None)


@cache
def definitions() -> dict[str, Json]:
    """Return the definitions of the schema; operations also by the name that the log gives them."""
    found = json.loads(SCHEMA.read_text())["$defs"]
    ops = {rule.get("properties", {}).get("op", {}).get("const"): r for r, rule in found.items()}
    return found | {op: found[name] for op, name in ops.items() if op}


def known(kind: str, value: Any, name: str) -> Any:
    """Compare a value with a definition. What the definition does not know needs an upgrade."""
    conform(value, definitions()[kind], name)
    return value


def conform(value: Any, rule: Json, name: str) -> None:
    """Compare a value with a rule of the schema."""
    if "$ref" in rule:
        rule = definitions()[rule["$ref"].rsplit("/", 1)[1]]
    if "discriminator" in rule:
        tag = value.get(rule["discriminator"]["propertyName"]) if isinstance(value, dict) else None
        if tag not in rule["discriminator"]["mapping"]:
            raise Unsupported(f"{name}: {tag!r} is unknown; please upgrade")
        rule = definitions()[rule["discriminator"]["mapping"][tag].rsplit("/", 1)[1]]
    for choice in rule.get("anyOf", []):
        if isinstance(value, KINDS[choice.get("type", "object")]):
            return conform(value, choice, name)
    need("anyOf" not in rule, f"{name}: {value!r:.80} has another type")
    words = rule.get("enum", [rule["const"]] if "const" in rule else [value])
    if value not in words:
        raise Unsupported(f"{name}: {value!r} is unknown; please upgrade")
    kind = rule.get("type")
    number = isinstance(value, int) and not isinstance(value, bool)
    good = number if kind == "integer" else isinstance(value, KINDS.get(str(kind), object))
    need(good, f"{name}: {value!r:.80} is no {kind}")
    if kind == "integer":
        need(rule.get("minimum", value) <= value <= rule.get("maximum", value), f"{name}: {value}")
    if kind == "string":
        need(re.search(rule.get("pattern", ""), value), f"{name}: the form of {value!r:.80}")
        size = len(value)
        need(rule.get("minLength", 0) <= size <= rule.get("maxLength", size), f"{name}: length")
    for item in value if kind == "array" else ():
        conform(item, rule.get("items", {}), name)
    for key in rule.get("required", []):
        need(key in value, f"{name}: {key!r} is missing")
    for key, item in value.items() if kind == "object" else ():
        inner = rule.get("properties", {}).get(key, rule.get("additionalProperties", {}))
        if inner is False:
            raise Unsupported(f"{name}: the key {key!r} is unknown; please upgrade")
        conform(key, rule.get("propertyNames", {}), name)
        conform(item, inner if isinstance(inner, dict) else {}, f"{name}, {key}")


# --- states and the fold --------------------------------------------------------------------------


@dataclass
class RowSet:
    """A live RowSet: its entry and its deletion vector as the log states them."""

    id: int
    epoch: int
    entry: Json
    vector: Json | None


@dataclass
class TableState:
    """What readers of rows need to know of a table at one epoch."""

    id: str
    name: str
    fields: list[Json]
    created: int
    schema_id: int = 0
    next_rowset: int = 0
    orders: list[list[Json]] = field(default_factory=list)
    order: int = 0
    layouts: list[list[Json]] = field(default_factory=lambda: [[]])
    layout: int = 0
    constraints: list[Json] = field(default_factory=list)
    primary_key: list[int] = field(default_factory=list)
    lifetimes: Json | None = None
    partition_key: list[int] = field(default_factory=list)
    statics_of: str | None = None
    range_tombstones: list[Json] = field(default_factory=list)
    rowsets: dict[int, RowSet] = field(default_factory=dict)

    def column(self, number: int) -> Json:
        """Return a column by its id."""
        found = [one for one in self.fields if one["id"] == number]
        need(found, f"table {self.id} has no column {number}")
        return found[0]

    def live(self, rowset: int) -> RowSet:
        """Return a live RowSet."""
        need(rowset in self.rowsets, f"table {self.id}: RowSet {rowset} is not live")
        return self.rowsets[rowset]

    def add(self, epoch: int, entry: Json, vector: Json | None, number: int | None = None) -> None:
        """Add a RowSet, under the next id unless its id is given."""
        layout, name = entry.get("partition_layout_id", 0), f"RowSet {entry['object']}"
        need((entry["place"] == "inline") == ("data" in entry), f"{name}: inline without bytes")
        known_ids = entry.get("sort_order_id", 0) < len(self.orders) and layout < len(self.layouts)
        need(known_ids, f"{name}: unknown sort order or partition layout")
        need(len(entry.get("partition", [])) == len(self.layouts[layout]), f"{name}: partition")
        need(not vector or vector["cardinality"] <= entry["rows"], f"{name}: its vector")
        if number is None:
            number, self.next_rowset = self.next_rowset, self.next_rowset + 1
        need(number not in self.rowsets, f"{name}: its id {number} is given twice")
        self.rowsets[number] = RowSet(number, epoch, entry, vector)


def checked_fields(schema: Json) -> list[Json]:
    """Return the columns of a schema. Unknown types, and an id that occurs twice, are refused."""
    seen: set[int] = set()

    def visit(one: Json) -> None:
        need(one["id"] not in seen, f"two fields have the id {one['id']}")
        seen.add(one["id"])
        user_type(one["type"])
        for inner in inner_fields(one["type"]):
            need(inner["type"] != "void", f"the field {inner['id']} inside a column is void")
            visit(inner)

    for one in schema["fields"]:
        visit(one)
    need(any(one["type"] != "void" for one in schema["fields"]), "no column has a type")
    return schema["fields"]


def inner_fields(kind: Any) -> list[Json]:
    """Return the fields inside a nested type."""
    if isinstance(kind, str):
        return []
    parts = {"array": ["element"], "map": ["key", "value"]}.get(kind["type"], [])
    return kind.get("fields", [kind[part] for part in parts])


class State:
    """The snapshot of an epoch. `apply` makes that of the next epoch of it, in place.

    Comments, properties, tags, pins, leases, batches and identity columns are left out.
    """

    def __init__(self, segment: Callable[..., list[RowSet]]) -> None:
        self.segment = segment
        self.epoch, self.floor, self.time_ms = -1, 0, -1
        self.transaction: str | None = None
        self.clock_ms: int | None = None
        self.database, self.slot_block, self.ended = "", 0, False
        self.anchors: list[Json] = []
        self.anchor_list: Json | None = None
        self.writer_features: set[str] = set()
        self.tables: dict[str, TableState] = {}

    def named(self, name: str) -> TableState | None:
        """Return the table of a name."""
        return next((t for t in self.tables.values() if t.name == name), None)

    def apply(self, body: Json) -> None:
        """Fold one epoch into the state."""
        name = f"epoch {body.get('epoch')}"
        known("Epoch", body, name)
        need(not self.ended and body["epoch"] == self.epoch + 1, f"{name}: out of order")
        need(body.get("previous") == self.transaction, f"{name}: does not follow its previous")
        need(body["time_ms"] > self.time_ms, f"{name}: not after the time of its previous")
        need(0 <= body["base"] <= max(self.epoch, 0), f"{name}: base {body['base']}")
        creates = [op["op"] for op in body["ops"]].count("create_database")
        need((len(body["ops"]) == creates == 1) if body["epoch"] == 0 else not creates, name)
        self.epoch, self.transaction = body["epoch"], body["transaction"]
        self.time_ms, self.clock_ms = body["time_ms"], body.get("clock_ms")
        for op in body["ops"]:
            if "table" not in op or op["op"] == "create_table":
                self.change(op)
            else:
                need(op["table"] in self.tables, f"{name}: {op['op']} on no table")
                self.change_table(self.tables[op["table"]], op)
        for table in self.tables.values():
            self.check_statics(table)

    def change(self, op: Json) -> None:
        """Apply an operation that is not on a table."""
        match op["op"]:
            case "create_database":
                self.database, self.slot_block = op["database"], op["slot_block"]
                self.enable(op.get("reader_features", []), op.get("writer_features", []))
            case "enable_features":
                self.enable(op.get("reader", []), op.get("writer", []))
            case "drop_database":
                self.ended, self.tables = True, {}
            case "create_table":
                free = op["table"] not in self.tables and not self.named(op["name"])
                need(free, f"create_table: {op['name']} is taken")
                self.create_table(op)
            case "vacuum":
                anchors = op.get("anchors", [])
                epochs = {anchor["epoch"] for anchor in anchors}
                need(op["floor"] < self.epoch, "vacuum: the floor is not earlier")
                need(max(epochs, default=0) == op["floor"], "vacuum: no anchor of the floor")
                need(len(epochs) == len(anchors), "vacuum: two anchors of one epoch")
                need("anchor_list" not in op or len(epochs) == 1, "vacuum: anchors beside a list")
                self.floor, self.anchors = max(self.floor, op["floor"]), anchors
                self.anchor_list = op.get("anchor_list")

    def enable(self, reader: list[str], writer: list[str]) -> None:
        """Add features. This reader knows none."""
        if reader:
            raise Unsupported(f"the reader features {reader} are unknown; please upgrade")
        self.writer_features.update(writer)

    def create_table(self, op: Json) -> None:
        """Add an empty table."""
        layouts = [[], op["partition_fields"]] if "partition_fields" in op else [[]]
        table = TableState(
            op["table"], op["name"], checked_fields(op["table_schema"]), self.epoch,
            orders=[op.get("sort_key", [])], layouts=layouts, layout=len(layouts) - 1,
            constraints=op.get("constraints", []), primary_key=op.get("primary_key", []),
            lifetimes=op.get("lifetimes"), partition_key=op.get("partition_key", []),
            statics_of=op.get("statics_of"),
        )  # fmt: skip
        self.tables[table.id] = table
        owner = self.tables.get(table.statics_of or "")
        if owner and not owner.partition_key:
            owner.partition_key = table.primary_key

    def change_table(self, table: TableState, op: Json) -> None:
        """Apply an operation on a table."""
        match op["op"]:
            case "drop_table":
                del self.tables[table.id]
            case "rename_table":
                need(not self.named(op["name"]), f"rename_table: {op['name']} is taken")
                table.name = op["name"]
            case "alter_schema":
                need(op["schema_id"] == table.schema_id + 1, "alter_schema: schema id")
                table.schema_id, table.fields = op["schema_id"], checked_fields(op["table_schema"])
            case "set_partition_layout":
                table.layout = current(table.layouts, op["layout_id"], op["fields"])
            case "set_sort_order":
                table.order = current(table.orders, op["order_id"], op["fields"])
            case "add_check":
                table.constraints = [*table.constraints, op["constraint"]]
            case "drop_check":
                left = [c for c in table.constraints if c["name"] != op["name"]]
                need(len(left) < len(table.constraints), f"there is no check {op['name']}")
                table.constraints = left
            case "set_primary_key":
                table.primary_key = op["columns"]
            case "set_lifetimes":
                table.lifetimes = op.get("lifetimes")
            case "add_rowset":
                table.add(self.epoch, op["rowset"], op.get("vector"))
            case "add_rowsets":
                for found in self.segment(table, op["segment"], 0, 0):
                    table.add(self.epoch, found.entry, found.vector)
            case "drop_rowset":
                for number in (i for a, b in op["rowsets"] for i in range(a, b + 1)):
                    del table.rowsets[table.live(number).id]
            case "add_deletion_vector":
                rowset, vector = table.live(op["rowset"]), op["vector"]
                old = rowset.vector or {"cardinality": 1}
                need(vector.get("predecessor") == old.get("object"), "a vector's predecessor")
                most = rowset.entry["rows"]
                need(old["cardinality"] <= vector["cardinality"] <= most, "a vector's cardinality")
                rowset.vector = vector
            case "add_range_tombstone":
                tombstone = {"epoch": self.epoch, "regions": op["regions"]}
                table.range_tombstones = [*table.range_tombstones, tombstone]
            case "forget_range_tombstones":
                need(op["through"] < self.epoch, "forget_range_tombstones: of a later epoch")
                left = [t for t in table.range_tombstones if t["epoch"] > op["through"]]
                table.range_tombstones = left
            case "replace_column":
                replace_column(table.live(op["rowset"]), op)
            case "compaction":
                self.compact(table, op)
            case "restore":
                need(table.created <= op["epoch"] < self.epoch, "restore: epoch")
                if "table_schema" in op:
                    table.schema_id += 1
                    table.fields = checked_fields(op["table_schema"])
                table.layout = op.get("partition_layout_id", table.layout)
                table.order = op.get("sort_order_id", table.order)
                table.constraints = op.get("constraints", table.constraints)
                table.primary_key = op.get("primary_key", table.primary_key)
                table.range_tombstones = []

    def compact(self, table: TableState, op: Json) -> None:
        """Replace RowSets by new ones with the same rows."""
        kept = 0
        for item in op["inputs"]:
            need(table.live(item["rowset"]).entry["rows"] == item["rows"], "compaction: rows")
            kept += item["rows"] - item.get("vector", {"cardinality": 0})["cardinality"]
            del table.rowsets[item["rowset"]]
        need(kept == sum(o["rowset"]["rows"] for o in op["outputs"]), "compaction: rows are lost")
        for item in op["outputs"]:
            table.add(self.epoch, item["rowset"], item.get("vector"))
            if item.get("vector", {}).get("cardinality") == item["rowset"]["rows"]:
                del table.rowsets[table.next_rowset - 1]

    def check_statics(self, table: TableState) -> None:
        """Compare a table with its table of static values."""
        statics = [one["id"] for one in table.fields if one.get("static")]
        if statics:
            other = self.tables.get(statics_id(table.id))
            keys = table.partition_key
            fits = other and [one["id"] for one in other.fields] == keys + statics
            need(keys and fits, f"table {table.id} and its static values disagree")


def replace_column(rowset: RowSet, op: Json) -> None:
    """Let a RowSet take columns from a replacement."""
    new, left, gone = op["replacement"], [], []
    for old in rowset.entry.get("replacements", []):
        columns = [c for c in old["columns"] if c not in new["columns"]]
        gone += [old["object"]] if columns != old["columns"] else []
        left += [old | {"columns": columns}] if columns else []
    need(sorted(op.get("predecessors", [])) == sorted(gone), "replaced other predecessors")
    rowset.entry = rowset.entry | {"replacements": [*left, new]}


def current(parts: list[list[Json]], number: int, fields: list[Json]) -> int:
    """Make a sort order or a layout current: an earlier number, or the next one."""
    if number == len(parts):
        parts.append(fields)
    need(number < len(parts) and len(parts[number]) == len(fields), "a number changes its meaning")
    return number


def statics_id(table: str) -> str:
    """Return the id of the table of static values."""
    return hashlib.sha256(f"static values of {table}".encode()).hexdigest()[:16]


# --- checkpoints ----------------------------------------------------------------------------------

PLACES = ("directory", "packed", "inline")
SIZES = {"u8": "B", "u16": "H", "u32": "I", "i64": "q"}


def integers(vector: Json, count: int, name: str) -> list[int]:
    """Decode a vector of integers."""
    data, base = base64.b64decode(vector.get("data", "")), int(vector.get("base", "0"))
    if vector["type"] == "const":
        return [base] * count
    code = f"<{count}{SIZES[vector['type']]}"
    need(len(data) == struct.calcsize(code), f"{name}: a vector of another length")
    return [base + number for number in struct.unpack(code, data)]


def segment_rowsets(body: Json, name: str) -> Iterator[RowSet]:
    """Decode an entry segment. Ids and epochs are differences; statistics are left out."""
    count, objects = body["count"], base64.b64decode(body["objects"]).hex()
    need(len(objects) == 32 * count, f"{name}: objects")
    keys = [k for k, v in body.items() if isinstance(v, dict) and isinstance(v.get("type"), str)]
    vectors = {key: integers(body[key], count, name) for key in keys}
    for i in range(count):
        one = {key: values[i] for key, values in vectors.items()}
        need(0 <= one["places"] < 3, f"{name}: place")
        entry: Json = {key: one[key] for key in ("rows", "bytes")}
        entry["object"], entry["place"] = objects[32 * i : 32 * i + 32], PLACES[one["places"]]
        entry["cuts"] = one["cuts"] or body["irregular_cuts"][str(i)]
        entry["footer"] = {"length": one["footer_lengths"], "crc32c": one["footer_crc32cs"]}
        for key in ("partition_layout_id", "sort_order_id"):
            entry[key] = one[f"{key}s"]
        if one["clean_epochs"] >= 0:
            entry["clean_epoch"] = one["clean_epochs"]
        if one["first_written_ms"] >= 0:
            entry["written_ms"] = [one["first_written_ms"], one["last_written_ms"]]
        if "partitions" in body:
            entry["partition"] = body["partitions"][one["partition_indexes"]]
        entry |= {k: body[k][str(i)] for k in ("data", "replacements") if str(i) in body.get(k, {})}
        known("RowSetEntry", entry, name)
        yield RowSet(one["ids"], one["epochs"], entry, body.get("vectors", {}).get(str(i)))


class Log:
    """The log of a database: its slots, its marks, and the states that they lead to."""

    def __init__(self, path: str) -> None:
        self.folder = Folder(path)
        zero = self.slot(0)
        if zero is None:
            found = self.folder.get("_manifest/hint.json") or any(map(self.slot, range(1, 65)))
            if found:
                raise FormatError("epoch 0 is missing: the database is damaged")
            raise Removed(f"{path} is not a database")
        self.zero, self.slot_block = zero, zero["ops"][0]["slot_block"]

    # The slots

    def slot(self, number: int) -> Json | None:
        """Return the epoch in a slot."""
        name = f"_manifest/{number:020}.json"
        data = self.folder.get(name, EPOCH_LIMIT)
        if data is None:
            return None
        body = unseal(data, name)
        need(body.get("epoch") == number, f"{name}: another number")
        return body

    def marked(self, block: int) -> bool:
        """Say whether a block has a mark. Its name says everything."""
        name = f"_manifest/freed-{self.zero['ops'][0]['database']}-{block:020}.json"
        return self.folder.get(name, 4096) is not None

    def freed(self, slot: int) -> bool:
        """Say whether a slot may have been freed."""
        return self.marked(slot // self.slot_block)

    def after_marks(self) -> int:
        """Return the number of marks, by growing steps and then bisection."""
        low, high = -1, 0
        while self.marked(high):
            low, high = high, 2 * high + 1
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.marked(middle) else (low, middle)
        return high

    # The objects of checkpoints

    def object(self, ref: Json, key: str = "object") -> Json:
        """Return the body of an object of a checkpoint, or that of its copy."""
        check = ref["check"]
        return self._whole(ref[key], lambda data: unseal(checked(data, check, ref[key]), ref[key]))

    def _whole(self, name: str, check: Callable[[bytes | None], Json]) -> Json:
        try:
            return check(self.folder.get(f"_manifest/checkpoint/{name}.json"))
        except FormatError:
            return check(self.folder.get(f"_manifest/copy/{name}.json"))

    def map(self, ref: Json) -> Json:
        """Return all entries of a map."""
        count = ref["pages"]
        entries: Json = {}
        vectors = [integers(ref[k], count, "map") for k in ("bundle_indexes", "offsets", "lengths")]
        for index, offset, length in zip(*vectors, strict=True):
            if length:
                bundle = ref["bundles"][index]

                def page_of(data: bytes | None, at: int = offset, size: int = length) -> Json:
                    if data is None or at + size > len(data):
                        raise FormatError("a page is missing")
                    return unseal(data[at : at + size], "page")

                page = self._whole(bundle["object"], page_of)
                entries |= known("Page", page, "page")["entries"]
        need(len(entries) == ref["count"], "a map of another count")
        return entries

    def segment(self, table: TableState, ref: Json, first: int, epoch: int) -> list[RowSet]:
        """Return the RowSets of an entry segment."""
        name = ref["object"]
        body = known("EntrySegmentBody", self.object(ref), name)
        need(body["table"] == table.id, f"{name}: the segment of another table")
        rowsets = list(segment_rowsets(body, name))
        for rowset in rowsets:
            rowset.id, rowset.epoch = rowset.id + first, rowset.epoch + epoch
        rows = sum(rowset.entry["rows"] for rowset in rowsets)
        need((len(rowsets), rows) == (ref["rowset_count"], ref["row_count"]), f"{name}: counts")
        return rowsets

    def root(self, ref: Json) -> State:
        """Return the state that a root stores."""
        root = known("Root", self.object(ref, "root"), ref["root"])
        need(root["checkpoint"] == ref["epoch"], f"{ref['root']}: of another epoch")
        need(not root.get("tables") or "stored_tables" not in root, f"{ref['root']}: tables twice")
        state = State(self.segment)
        state.epoch, state.transaction = root["checkpoint"], root["transaction"]
        state.time_ms, state.clock_ms = root["time_ms"], root.get("clock_ms")
        state.floor, state.anchors = root["floor"], root["anchors"]
        state.anchor_list = root.get("anchor_list")
        state.change(root | {"op": "create_database"})
        state.writer_features.update(root.get("writer", {}).get("features", []))
        need(state.database == self.zero["ops"][0]["database"], f"{ref['root']}: another database")
        records = root.get("tables", [])
        if "stored_tables" in root:
            records = list(self.map(root["stored_tables"]["records"]).values())
        state.tables = {record["id"]: self.table(record) for record in records}
        return state

    def table(self, record: Json) -> TableState:
        """Return the table of a record, with all its RowSets."""
        keys = ("primary_key", "lifetimes", "partition_key", "statics_of", "range_tombstones")
        table = TableState(
            record["id"], record["name"], checked_fields(record["table_schema"]),
            record["created_epoch"], record["schema_id"], record["next_rowset_id"],
            [record["sort_key"], *record.get("sort_orders", [])], record.get("sort_order_id", 0),
            [[], *record.get("partition_layouts", [])], record.get("partition_layout_id", 0),
            record.get("writer", record).get("constraints", []),
            **{key: record[key] for key in keys if key in record},
        )  # fmt: skip
        gone = {i for first, last in record["dropped"] for i in range(first, last + 1)}
        found: list[RowSet] = []
        for part in record["segments"]:
            found += self.segment(table, part["segment"], part["first_id"], part["epoch"])
        for rowset in sorted(found, key=lambda r: r.id):
            vector = record["vectors"].get(str(rowset.id), rowset.vector)
            if rowset.id not in gone:
                table.add(rowset.epoch, rowset.entry, vector, rowset.id)
        need(len(table.rowsets) == record["rowset_count"], f"table {table.id}: RowSets")
        return table

    # States

    def begin(self) -> State:
        """Return the state of epoch 0."""
        state = State(self.segment)
        state.apply(self.zero)
        return state

    def hinted(self) -> State | None:
        """Return the state that the hint leads to, or None where it must not be used."""
        try:
            data = self.folder.get("_manifest/hint.json", 4096)
            if data is None:
                return None
            hint = known("Hint", unseal(data, "hint"), "hint")
            state = self.root(hint)
            body = self.slot(state.epoch)
        except FormatError:
            return None
        if body is None:
            need(self.freed(state.epoch), f"epoch {state.epoch} is lost: the hint proves it")
            return None
        return state if body["transaction"] == state.transaction else None

    def floored(self) -> State:
        """Return the state at the floor, which the last vacuum after the newest mark tells."""
        tried: Json | None = None
        while True:
            first = self.after_marks() * self.slot_block
            vacuums = [op for op in self.operations(max(first, 1)) if op.get("op") == "vacuum"]
            floor = vacuums[-1]["floor"] if vacuums else 0
            need(floor or not first, "the last vacuum is lost")
            if not floor:
                return self.begin()
            anchor = next(a for a in vacuums[-1]["anchors"] if a["epoch"] == floor)
            try:
                return self.root(anchor)
            except FormatError:
                if anchor == tried:
                    raise
                tried = anchor

    def operations(self, slot: int) -> Iterator[Json]:
        """Return the operations of the epochs from a slot on. Some may be damaged or lost."""
        while any(self.exists(slot + step) for step in range(65)):
            with suppress(FormatError):
                yield from known("Epoch", self.slot(slot) or self.zero, "epoch")["ops"]
            slot += 1

    def exists(self, slot: int) -> bool:
        """Say whether a slot is taken."""
        return self.folder.get(f"_manifest/{slot:020}.json", EPOCH_LIMIT) is not None

    def follow(self, state: State, until: int | None = None) -> State:
        """Fold the epochs after a state, up to one or up to the head."""
        while until is None or state.epoch < until:
            slot = state.epoch + 1
            try:
                body = self.slot(slot)
                if body is not None:
                    state.apply(body)
                    continue
                steps = (1, 2, 4, 8, 16, 32, 64)
                gap = any(self.exists(slot + step) for step in steps) and not self.exists(slot)
                need(not gap, f"epoch {slot} is missing")
                if self.exists(slot):
                    continue
                if not self.freed(slot):
                    need(until is None, f"epoch {slot} is missing")
                    return state
                state = self.floored()
            except FormatError:
                floored = self.floored()
                if floored.epoch < slot:
                    raise
                state = floored
        return state

    def head(self) -> State:
        """Return the newest state."""
        state = self.hinted()
        if state is None:
            state = self.begin() if self.exists(1) else self.floored()
        return self.follow(state)

    def at(self, head: State, epoch: int) -> State:
        """Return the state of a readable epoch."""
        if epoch == head.epoch:
            return head
        if not 0 <= epoch < head.epoch:
            raise Removed(f"there is no epoch {epoch} yet, the newest one is {head.epoch}")
        anchors = head.anchors
        if epoch < head.floor and head.anchor_list:
            body = known("AnchorListBody", self.object(head.anchor_list), "anchors")
            anchors = [*anchors, *body["anchors"]]
        for anchor in anchors:
            if anchor["epoch"] == epoch:
                return self.root(anchor)
        if epoch < head.floor:
            raise Removed(f"epoch {epoch} was removed, the floor is {head.floor}")
        first = [anchor for anchor in anchors if anchor["epoch"] == head.floor]
        state = self.follow(self.root(first[0]) if head.floor else self.begin(), epoch)
        if state.epoch != epoch or self.freed(epoch):
            raise Removed(f"epoch {epoch} was removed, the floor is {state.epoch}")
        return state


# --- types ----------------------------------------------------------------------------------------

SIMPLE = {
    "boolean": pa.bool_(), "byte": pa.int8(), "short": pa.int16(), "int": pa.int32(),
    "long": pa.int64(), "float": pa.float32(), "double": pa.float64(), "string": pa.utf8(),
    "binary": pa.binary(), "date": pa.date32(), "timestamp": pa.timestamp("us", "UTC"),
    "timestamp_ntz": pa.timestamp("us"), "void": pa.null(),
    "variant": pa.struct([pa.field(n, pa.binary(), False) for n in ("value", "metadata")]),
}  # fmt: skip
CLOCK = ("day", "hour", "minute", "second")
RANGES = [f"{a} to {b}" for i, a in enumerate(CLOCK) for b in CLOCK[i + 1 :]]
SIMPLE |= dict.fromkeys((f"interval {u}" for u in (*CLOCK, *RANGES)), pa.duration("us"))
SIMPLE |= dict.fromkeys((f"interval {u}" for u in ("year", "month", "year to month")), pa.int32())
UNSTATED = {*SIMPLE, "time(9)"} - {k for k in SIMPLE if k.startswith("interval")}
UNSTATED |= {"interval day to second"}


def leaf_type(text: str) -> pa.DataType:
    """Return the Arrow type of a type that has no fields."""
    if text in SIMPLE:
        return SIMPLE[text]
    if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", text):
        digits, scale = int(found[1]), int(found[2])
        need(1 <= digits <= 38 and scale <= digits, f"{text} is no type")
        return pa.decimal128(digits, scale)
    if re.fullmatch(r"(var)?char\([1-9]\d*\)|string collate \w+", text):
        return pa.utf8()
    if re.fullmatch(r"time\(\d\)", text):
        return pa.time64("ns")
    raise Unsupported(f"unknown type {text!r}; please upgrade")


def user_type(kind: Any) -> pa.DataType:
    """Return the Arrow type of the user form."""
    if kind == "variant":
        mark = pa.field("metadata", pa.binary(), False, {"variant": "true"})
        return pa.struct([pa.field("value", pa.binary(), False), mark])
    if isinstance(kind, str):
        return leaf_type(kind)
    inner = [user_field(f) for f in inner_fields(kind)]
    if kind["type"] == "struct":
        return pa.struct(inner)
    if kind["type"] == "array":
        return pa.list_(inner[0].with_name("element"))
    return pa.map_(inner[0].with_name("key").with_nullable(False), inner[1].with_name("value"))


def user_field(one: Json) -> pa.Field:
    """Return the Arrow field of the user form."""
    metadata = {"comment": one["comment"]} if "comment" in one else {}
    kind, nullable = one["type"], one.get("nullable", True)
    if isinstance(kind, str) and kind not in UNSTATED and "decimal" not in kind:
        metadata["colonnade.type"] = kind
    return pa.field(one["name"], user_type(kind), nullable, metadata or None)


DIGITS = {"byte": 3, "short": 5, "int": 10, "long": 19}


def digits_of(kind: str) -> tuple[int, int] | None:
    """Return the digits before and behind the point of an integer or decimal type."""
    if found := re.fullmatch(r"decimal\((\d+),(\d+)\)", kind):
        return int(found[1]) - int(found[2]), int(found[2])
    return (DIGITS[kind], 0) if kind in DIGITS else None


def widens(have: str, want: str) -> bool:
    """Say whether a type is another one, or widens to it."""
    if want in DIGITS:
        return have in DIGITS and DIGITS[have] <= DIGITS[want]
    if have == want or (have, want) == ("date", "timestamp_ntz"):
        return True
    if want == "double":
        return have in ("byte", "short", "int", "float")
    if found := re.fullmatch(r"(?:var)?char\((\d+)\)", have):
        longer = re.fullmatch(r"varchar\((\d+)\)", want)
        return want == "string" or bool(longer and int(found[1]) <= int(longer[1]))
    less, more = digits_of(have), digits_of(want)
    return bool(less and more and less[0] <= more[0] and less[1] <= more[1])


def convert(array: pa.Array, want: Any, have: str | None = None) -> pa.Array:
    """Convert the storage form into the user form. Only a whole column states the type it has."""
    if isinstance(want, str):
        return widen(array, want, have)
    inner, found = inner_fields(want), array.type
    same = {"struct": pa.types.is_struct, "array": pa.types.is_list, "map": pa.types.is_map}
    need(have in (None, want["type"]) and same[want["type"]](found), f"a block of {found}")
    need(array.offset == 0, "an array with an offset")
    target, buffers = user_type(want), array.buffers()
    if want["type"] == "struct":
        children = [struct_child(array, one) for one in inner]
        return pa.Array.from_buffers(target, len(array), buffers[:1], children=children)
    parts = [array.values] if want["type"] == "array" else [array.keys, array.items]
    children = [convert(part, one["type"]) for part, one in zip(parts, inner, strict=True)]
    if want["type"] == "map":
        entries = pa.struct([target.key_field, target.item_field])
        children = [pa.Array.from_buffers(entries, len(parts[0]), [None], children=children)]
    return pa.Array.from_buffers(target, len(array), buffers[:2], children=children)


def struct_child(array: pa.StructArray, one: Json) -> pa.Array:
    """Return a field of a struct, found by its id; NULL without it."""
    names = [part.name for part in array.type]
    need(len(set(names)) == len(names), "a struct has an id twice")
    if str(one["id"]) not in names:
        return pa.nulls(len(array), user_type(one["type"]))
    return convert(array.field(names.index(str(one["id"]))), one["type"])


def widen(array: pa.Array, want: str, have: str | None) -> pa.Array:
    """Convert values of the type that they were written with into those of a wider one."""
    found, target = array.type, user_type(want)
    if have is None:
        plain = {kind: text for text, kind in SIMPLE.items() if "interval" not in text}
        text = str(found).replace("decimal128", "decimal").replace(" ", "")
        have = want if leaf_type(want) == found else plain.get(found, text)
    need(widens(have, want) and leaf_type(have) == found, f"a block of {found} instead of {want}")
    if (have, want) == ("date", "timestamp_ntz"):
        days = array.view(pa.int32()).cast(pa.int64())
        return pc.multiply(days, DAY_MS * 1000).view(target)
    if want == "variant":
        fields = [array.field(0), array.field(1)]
        return pa.Array.from_buffers(target, len(array), array.buffers()[:1], children=fields)
    return array if found == target else array.cast(target)


def from_integers(numbers: pa.Array, kind: pa.DataType) -> pa.Array:
    """Make values of the int64 that represent them."""
    if pa.types.is_decimal(kind):
        wide = numbers.cast(pa.decimal128(19, 0))
        return pa.Array.from_buffers(kind, len(wide), wide.buffers())
    if pa.types.is_date32(kind):
        return numbers.cast(pa.int32()).view(kind)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return numbers.cast(kind)
    return numbers.view(kind)


def from_bound(text: str, kind: pa.DataType) -> pa.Scalar:
    """Return the value of a text with a prefix, perhaps in a wider type than that of its prefix."""
    found = re.fullmatch(r"([sbfdi])(\d*):(.*)", text, re.DOTALL)
    if found is None:
        raise FormatError(f"the bound {text!r}")
    tag, scale, value = found.groups()
    if (tag == "s" and pa.types.is_string(kind)) or (tag == "f" and pa.types.is_floating(kind)):
        return pa.scalar(value if tag == "s" else float(value), kind)
    if tag == "b" and pa.types.is_binary(kind):
        return pa.scalar(base64.b64decode(value, validate=True), kind)
    need(tag in "id" and (tag == "d") >= pa.types.is_date32(kind), f"the bound {text!r} of {kind}")
    number = int(value)
    if pa.types.is_decimal(kind):
        sign, digits, _ = decimal.Decimal(number).as_tuple()
        return pa.scalar(decimal.Decimal((sign, digits, -int(scale or 0))), kind)
    if tag == "d" and not pa.types.is_date32(kind):
        number *= DAY_MS * 1000
    if pa.types.is_floating(kind):
        return pa.scalar(float(number), kind)
    return from_integers(pa.array([number], pa.int64()), kind)[0]


# --- blocks and RowSets ---------------------------------------------------------------------------

BLOCK_LIMIT = (2 << 30) + (1 << 20)


def stream(data: bytes, column: str | None, name: str) -> pa.RecordBatch:
    """Return the only batch of an Arrow stream, whose only column may be given."""
    try:
        source = pa.ipc.open_stream(data)
        batches = list(source)
        need(len(batches) == 1, f"{name}: not one batch")
        batches[0].validate(full=True)
    except (pa.ArrowException, OSError) as error:
        raise FormatError(f"{name}: {error}") from None
    need(column is None or source.schema.names == [column], f"{name}: not column {column}")
    need(all(not f.metadata for f in source.schema), f"{name}: an extension type")
    return batches[0]


def decode(block: Json, data: bytes, column: str, have: str, name: str) -> pa.Array:
    """Return the rows of a block in the storage form. NULL has the Arrow type `null`."""
    encoding, rows = block["encoding"], block["rows"]
    if encoding in ("null", "constant"):
        need(not data, f"{name}: a block with bytes")
        return pa.repeat(block["min"], rows) if encoding == "constant" else pa.nulls(rows)
    array = stream(data, column, name).column(0)
    if encoding == "dictionary":
        need(pa.types.is_dictionary(array.type), f"{name}: no dictionary")
        array = array.dictionary.take(array.indices)
    elif encoding == "narrowed":
        need(str(array.type) in ("uint8", "uint16", "uint32", "int64"), f"{name}: {array.type}")
        array = from_integers(pc.add(array.cast(pa.int64()), block["base"]), leaf_type(have))
    elif encoding == "lengths":
        array = join_lengths(array, leaf_type(have), name)
    elif encoding != "plain":
        raise Unsupported(f"{name}: unknown encoding {encoding!r}; please upgrade")
    need(len(array) == rows, f"{name}: not {rows} rows")
    return array


def join_lengths(array: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """Return the texts of one row of lengths and bytes."""
    need(len(array) == 1 and array.type.num_fields == 2, f"{name}: not one row of lengths")
    lengths, values = array.field("lengths").values, array.field("values")
    need(values.type == kind, f"{name}: {values.type}")
    ends = pc.cumulative_sum(pc.fill_null(lengths, 0).cast(pa.int32()))
    offsets = pa.concat_arrays([pa.array([0], pa.int32()), ends])
    bytes_of = values.buffers()[2]
    need(offsets[-1].as_py() == len(values[0].as_buffer()), f"{name}: lengths of other bytes")
    valid = lengths.buffers()[0] if lengths.null_count else None
    return pa.Array.from_buffers(kind, len(lengths), [valid, offsets.buffers()[1], bytes_of])


class Stored:
    """A RowSet, or a replacement, as it is stored."""

    def __init__(self, folder: Folder, table: str, part: Json, rowset: Json) -> None:
        self.folder, self.place, self.rows = folder, part["place"], rowset["rows"]
        self.name = f"{table}/{part['object']}"
        need(re.fullmatch("[0-9a-f]{32}", part["object"]), f"{self.name} is no id")
        self.string: bytes | None = None
        length = part["footer"]["length"]
        if self.place == "directory":
            data = folder.get(f"{self.name}/rowset.json", LARGE)
        else:
            inline = self.place == "inline"
            data = base64.b64decode(part["data"]) if inline else folder.get(f"{self.name}.rowset")
            if data is None or len(data) != part["bytes"]:
                raise FormatError(f"{self.name}: missing or short")
            self.string, data = data, data[-length:]
        footer = unseal(checked(data, part["footer"], self.name), self.name)
        known("Footer", footer, self.name)
        need(footer["rows"] == self.rows and footer["cuts"] == rowset["cuts"], f"{self.name}: rows")
        self.columns: dict[str, Json] = footer["columns"]
        cuts = footer["cuts"]
        self.ends = cuts if isinstance(cuts, list) else [*range(cuts, self.rows, cuts), self.rows]
        need(sorted(set(self.ends)) == self.ends and self.ends[-1] == self.rows, "cuts")
        size = length
        for segment in self.columns.values():
            need(("index" in segment) != ("block" in segment), f"{self.name}: index and block")
            size += segment["length"] + segment.get("index", {"length": 0})["length"]
            size += segment.get("filters", {"length": 0})["length"]
        need(size == part["bytes"], f"{self.name}: has not {part['bytes']} bytes")

    def bytes_of(self, column: str, suffix: str, extent: Json) -> bytes:
        """Return a range of the bytes of a column."""
        if not extent["length"]:
            return b""
        data = self.string
        if data is None:
            data = self.folder.get(f"{self.name}/{column}.{suffix}")
        end = extent["offset"] + extent["length"]
        if data is None or end > len(data):
            raise FormatError(f"{self.name}, column {column}: missing bytes")
        return data[extent["offset"] : end]

    def blocks(self, column: str) -> Iterator[tuple[Json, bytes]]:
        """Return the blocks of a column with their bytes, which are checked."""
        segment, name = self.columns[column], f"{self.name}, column {column}"
        have = segment["type"]
        if "block" in segment:
            blocks = [{"first_row": 0, "rows": self.rows, "offset": 0} | segment["block"]]
            blocks[0] |= {key: segment[key] for key in ("length", "decoded")}
            if blocks[0]["encoding"] == "constant":
                blocks[0]["min"] = from_bound(segment["statistics"]["min"], leaf_type(have))
        else:
            data = self.bytes_of(column, "idx", segment["index"])
            index = stream(checked(data, segment["index"], name), None, name)
            need(index.num_rows <= 1 << 20, f"{name}: too many blocks")
            blocks = index.to_pylist()
            for block in blocks:
                if block["encoding"] == "constant":
                    block["min"] = index_bound(block["min"], leaf_type(have))
        data = self.bytes_of(column, "col", segment)
        row = offset = 0
        for block in blocks:
            need(block["first_row"] == row and block["offset"] == offset, f"{name}: gaps")
            row, offset = row + block["rows"], offset + block["length"]
            need(block["decoded"] <= BLOCK_LIMIT, f"{name}: a block that is too large")
            found = data[block["offset"] : offset]
            yield block, checked(found, block, name) if found else found
        need(row == self.rows and offset == segment["length"], f"{name}: gaps")
        need({b["first_row"] for b in blocks} >= {0, *self.ends[:-1]}, f"{name}: crosses a cut")
        need(sum(b["decoded"] for b in blocks) == segment["decoded"], f"{name}: decoded")

    def read(self, column: int, want: Any) -> pa.Array:
        """Return all rows of a column in the user form of a type."""
        key, have, parts = str(column), self.columns[str(column)]["type"], []
        for block, data in self.blocks(key):
            array = decode(block, data, key, have, f"{self.name}, column {column}")
            is_null = pa.types.is_null(array.type)
            parts.append(array.cast(user_type(want)) if is_null else convert(array, want, have))
        return pa.concat_arrays(parts)


def index_bound(value: Any, kind: pa.DataType) -> pa.Scalar:
    """Return the value of a bound of a sparse index."""
    if isinstance(value, (int, decimal.Decimal)) and not pa.types.is_decimal(kind):
        return from_integers(pa.array([int(value)], pa.int64()), kind)[0]
    if pa.types.is_decimal(kind):
        return from_bound(f"i{kind.scale}:{int(value)}", kind)
    return pa.scalar(value, kind)


# --- visible rows ---------------------------------------------------------------------------------


class TableReader:
    """Reads the rows of a table at one state."""

    def __init__(self, log: Log, state: State, table: TableState, now_ms: int) -> None:
        self.log, self.state, self.table, self.now_ms = log, state, table, now_ms

    def read(self) -> pa.Table:
        """Return all visible rows, in the order of RowSet ids."""
        schema = pa.schema([user_field(one) for one in self.table.fields])
        parts = [self.visible(rowset)[1] for rowset in self.table.rowsets.values()]
        table = pa.Table.from_batches([part for part in parts if part is not None], schema)
        has_statics = any(one.get("static") for one in self.table.fields)
        return self.with_statics(table) if has_statics else table

    def visible(self, rowset: RowSet) -> tuple[pa.Array, pa.RecordBatch | None]:
        """Return the numbers of the visible rows of a RowSet, and the rows."""
        rows, deleted = rowset.entry["rows"], self.deleted(rowset)
        if len(deleted) == rows:
            return pa.array([], pa.int64()), None
        places = pyroaring.BitMap(range(rows)) - deleted
        keep = pc.is_in(pa.array(range(rows)), pa.array(places, pa.int64()))
        columns, hide = Columns(self.log.folder, self.table, rowset), []
        for tombstone in self.table.range_tombstones:
            if tombstone["epoch"] > rowset.entry.get("clean_epoch", rowset.epoch):
                hide += [columns.region(region) for region in tombstone["regions"]]
        rules = self.table.lifetimes or {}
        if "rows_ms" in rules:
            hide.append(columns.expired(rules, rules["rows_ms"], self.now_ms))
        if "expires_column" in rules:
            hide.append(columns.expired({"time_column": rules["expires_column"]}, 0, self.now_ms))
        for hidden in hide:
            keep = pc.and_not(keep, hidden)
        found = [columns.read(one) for one in self.table.fields]
        for rule in rules.get("columns", []):
            place = self.table.fields.index(self.table.column(rule["column"]))
            gone = columns.expired(rules, rule["ms"], self.now_ms)
            found[place] = pc.if_else(gone, pa.nulls(1, found[place].type)[0], found[place])
        schema = pa.schema([user_field(one) for one in self.table.fields])
        batch = pa.RecordBatch.from_arrays([array.filter(keep) for array in found], schema=schema)
        return pa.array(range(rows)).filter(keep), batch

    def deleted(self, rowset: RowSet) -> pyroaring.BitMap:
        """Return the rows that the deletion vector of a RowSet deletes."""
        entry = rowset.vector
        if entry is None:
            return pyroaring.BitMap()
        name = f"{self.table.id}/{entry['object']}.dv"
        stored = "data" in entry
        data = base64.b64decode(entry["data"]) if stored else self.log.folder.get(name, LARGE)
        try:
            rows = pyroaring.BitMap.deserialize(checked(data, entry["check"], name))
        except ValueError as error:
            raise FormatError(f"{name}: {error}") from None
        need(len(rows) == entry["cardinality"], f"{name}: another cardinality")
        need(rows.max() < rowset.entry["rows"], f"{name}: a row that the RowSet does not have")
        return rows

    def with_statics(self, table: pa.Table) -> pa.Table:
        """Give each row the static values of its partition key."""
        other = self.state.tables[statics_id(self.table.id)]
        values = TableReader(self.log, self.state, other, self.now_ms).read()
        keys = [self.table.column(number)["name"] for number in self.table.partition_key]
        width = len(keys)
        rows = {k: i for i, k in enumerate(key_rows(values.columns[:width]))}
        place = pa.array([rows.get(k) for k in key_rows([table[k] for k in keys])], pa.int64())
        statics = [i for i, one in enumerate(self.table.fields) if one.get("static")]
        for there, here in enumerate(statics, width):
            found = values.column(there).take(place)
            table = table.set_column(here, table.schema.field(here), found)
        return table


def key_rows(columns: list[pa.ChunkedArray]) -> list[tuple[Any, ...]]:
    """Return rows as tuples that are equal where the keys are."""
    plain = [plain_values(c.combine_chunks()).to_pylist() for c in columns]
    return list(zip(*plain, strict=True))


def plain_values(array: pa.Array) -> pa.Array:
    """Return times as the integers that represent them, and other values as they are."""
    if pa.types.is_date32(array.type):
        return array.view(pa.int32()).cast(pa.int64())
    if pa.types.is_temporal(array.type):
        return array.view(pa.int64())
    return array.cast(pa.int8()) if pa.types.is_boolean(array.type) else array


class Columns:
    """The columns of one RowSet, with its replacements and the values that it lacks."""

    def __init__(self, folder: Folder, table: TableState, rowset: RowSet) -> None:
        self.folder, self.table, self.entry = folder, table, rowset.entry
        self.base = Stored(folder, table.id, rowset.entry, rowset.entry)
        self.rows = rowset.entry["rows"]
        self.news = [
            (set(part["columns"]), Stored(folder, table.id, part, rowset.entry))
            for part in rowset.entry.get("replacements", [])
        ]

    def read(self, one: Json) -> pa.Array:
        """Return all rows of a column."""
        number, want = one["id"], one["type"]
        if one.get("static") or want == "void":
            return pa.nulls(self.rows, user_type(want))
        for replaced, stored in self.news:
            if number in replaced:
                need(str(number) in stored.columns, f"{stored.name}: lacks column {number}")
                return stored.read(number, want)
        if str(number) in self.base.columns:
            return self.base.read(number, want)
        if "initial" in one:
            return pa.repeat(from_bound(one["initial"], user_type(want)), self.rows)
        return pa.nulls(self.rows, user_type(want))

    def region(self, region: list[Json]) -> pa.Array:
        """Say which rows are in a region."""
        inside = pa.repeat(True, self.rows)
        for interval in region:
            array = self.read(self.table.column(interval["column"]))
            inside = pc.and_(inside, in_interval(array, interval))
        return inside

    def expired(self, rules: Json, alive_ms: int, now_ms: int) -> pa.Array:
        """Say which rows have a time that is not after the moment `now_ms - alive_ms`."""
        moment = now_ms - alive_ms
        if "time_column" in rules:
            column = self.read(self.table.column(rules["time_column"]))
            day = pa.types.is_date32(column.type)
            times, bound = plain_values(column), moment // DAY_MS if day else moment * 1000
        elif str(WRITTEN) in self.base.columns:
            times, bound = self.base.read(WRITTEN, "timestamp"), moment * 1000
            times = plain_values(times)
        else:
            written = self.entry.get("written_ms", [rules.get("since_ms", 0)] * 2)
            need(written[0] == written[1], f"{self.base.name}: lacks the column _written")
            times, bound = pa.repeat(pa.scalar(written[0], pa.int64()), self.rows), moment
        return pc.fill_null(pc.less_equal(times, bound), False)


def in_interval(array: pa.Array, interval: Json) -> pa.Array:
    """Say which values are in an interval; NULL and NaN never are."""
    values = plain_values(array)
    inside = array.is_valid()
    if pa.types.is_floating(array.type):
        inside = pc.and_(inside, pc.invert(pc.is_nan(array)))
    for side, closed, opened in (
        ("low", pc.greater_equal, pc.greater),
        ("high", pc.less_equal, pc.less),
    ):
        if side in interval:
            bound = plain_values(pa.repeat(from_bound(interval[side], array.type), 1))[0]
            compare = opened if interval.get(f"{side}_open") else closed
            inside = pc.and_(inside, compare(values, bound))
    return pc.fill_null(inside, False)


# --- the API --------------------------------------------------------------------------------------


class TableView:
    """A table of a database, which was found by name in the head and is followed by its id."""

    def __init__(self, database: Database, name: str) -> None:
        self.database, self.name, found = database, name, database.state.named(name)
        if found is None:
            raise Removed(f"there is no table {name!r}")
        self.state = found

    def at(self, epoch: int | None = None) -> TableReader:
        """Return the reader of an epoch, by default of the head."""
        log, head = self.database.log, self.database.state
        if epoch is None or epoch == head.epoch:
            now = max(time.time_ns() // 1_000_000, head.time_ms)
            return TableReader(log, head, self.state, now)
        state = log.at(head, epoch)
        found = state.tables.get(self.state.id)
        if found is None and epoch < self.state.created:
            found = state.named(self.name)
        if found is None:
            raise Removed(f"there is no table {self.name!r} at epoch {epoch}")
        return TableReader(log, state, found, state.clock_ms or state.time_ms)

    def read(self, epoch: int | None = None) -> pa.Table:
        """Return the visible rows at an epoch, by default at the head."""
        return self.at(epoch).read()


class Database:
    """A database at its newest epoch."""

    def __init__(self, path: str) -> None:
        self.log = Log(path)
        self.state = self.log.head()
        self.epoch = self.state.epoch
        if self.state.ended:
            raise Removed(f"{path}: the database was dropped")
        self.tables = [t.name for t in self.state.tables.values() if not t.statics_of]

    def table(self, name: str) -> TableView:
        """Return a table by its name."""
        return TableView(self, name)


def open(path: str | os.PathLike[str]) -> Database:
    """Open a database for reading."""
    return Database(os.fspath(path))
