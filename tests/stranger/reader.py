"""A reader of the table format, written from its specification alone: a worked example.

`open(path)` finds the newest epoch. `.table(name).read(epoch)` returns the visible rows as Arrow.
It reads a local folder, loads all entry segments of a state at once, and prunes nothing.
"""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyroaring

from .log import Log, Removed, RowSet, State, Table, statics_id
from .stored import FormatError, Json, checked, get, need, unseal
from .values import (
    DAY_MS,
    convert,
    decode,
    from_bound,
    leaf_type,
    stream,
    user_field,
    user_type,
    value_of,
)

BLOCK_LIMIT = (2 << 30) + (1 << 20)
WRITTEN = {"id": 2_147_483_001, "type": "timestamp"}  # the internal column `_written`


class Stored:
    """A RowSet, or a replacement, as it is stored."""

    def __init__(self, log: Log, table: str, part: Json, rowset: Json) -> None:
        self.root, self.rows, self.name = log.root, rowset["rows"], f"{table}/{part['object']}"
        self.string: bytes | None = None
        length = part["footer"]["length"]
        if part["place"] == "directory":
            data = get(self.root, f"{self.name}/rowset.json")
        else:
            inline = part["place"] == "inline"
            data = get(self.root, f"{self.name}.rowset") if not inline else None
            self.string = base64.b64decode(part.get("data", "")) if data is None else data
            need(len(self.string) == part["bytes"], f"{self.name}: missing or short")
            data = self.string[-length:]
        footer = unseal(checked(data, part["footer"], self.name), self.name, "Footer")
        need(footer["rows"] == self.rows and footer["cuts"] == rowset["cuts"], f"{self.name}: rows")
        self.columns: dict[str, Json] = footer["columns"]
        parts = [one.get(key) for one in self.columns.values() for key in ("index", "filters")]
        sizes = [one["length"] for one in (*self.columns.values(), *parts) if one]
        need(length + sum(sizes) == part["bytes"], f"{self.name}: has not {part['bytes']} bytes")
        cuts = footer["cuts"]
        self.cuts = set(cuts[:-1] if isinstance(cuts, list) else range(cuts, self.rows, cuts))

    def bytes_of(self, column: str, suffix: str, extent: Json) -> bytes:
        """Return a range of the bytes of a column."""
        if not extent["length"]:
            return b""
        data = self.string
        if data is None:
            data = get(self.root, f"{self.name}/{column}.{suffix}")
        found = (data or b"")[extent["offset"] : extent["offset"] + extent["length"]]
        need(len(found) == extent["length"], f"{self.name}, column {column}: missing bytes")
        return found

    def blocks(self, column: str) -> Iterator[tuple[Json, bytes]]:
        """Return the blocks of a column with their bytes, which are checked."""
        segment, name = self.columns[column], f"{self.name}, column {column}"
        need(("index" in segment) != ("block" in segment), f"{name}: index and block")
        if "block" in segment:
            extent = {key: segment[key] for key in ("length", "decoded")}
            blocks = [{"first_row": 0, "rows": self.rows, "offset": 0} | segment["block"] | extent]
        else:
            data = self.bytes_of(column, "idx", segment["index"])
            blocks = stream(checked(data, segment["index"], name), None, name).to_pylist()
        data, row, offset = self.bytes_of(column, "col", segment), 0, 0
        for block in blocks:
            need(block["first_row"] == row and block["offset"] == offset, f"{name}: gaps")
            row, offset = row + block["rows"], offset + block["length"]
            need(block["decoded"] <= BLOCK_LIMIT, f"{name}: a block that is too large")
            if block["encoding"] == "constant":
                kind, bound = leaf_type(segment["type"]), segment["statistics"].get("min")
                value = value_of(block["min"], kind) if "min" in block else from_bound(bound, kind)
                block["min"] = value
            found = data[block["offset"] : offset]
            yield block, checked(found, block, name) if found else found
        need(row == self.rows and offset == segment["length"], f"{name}: gaps")
        need(self.cuts <= {block["first_row"] for block in blocks}, f"{name}: crosses a cut")

    def read(self, one: Json) -> pa.Array:
        """Return all rows of a column in the user form of its type."""
        key, parts = str(one["id"]), []
        need(key in self.columns, f"{self.name}: lacks column {key}")
        have = self.columns[key]["type"]
        for block, data in self.blocks(key):
            array = decode(block, data, key, have, f"{self.name}, column {key}")
            null = pa.types.is_null(array.type)
            parts.append(
                array.cast(user_type(one["type"])) if null else convert(array, one["type"], have)
            )
        return pa.concat_arrays(parts)


# --- visible rows ---------------------------------------------------------------------------------


class TableReader:
    """Reads the rows of a table at one state."""

    def __init__(self, log: Log, state: State, table: Table, now_ms: int) -> None:
        self.log, self.state, self.table, self.now_ms = log, state, table, now_ms

    def read(self) -> pa.Table:
        """Return all visible rows, in the order of RowSet ids."""
        schema = pa.schema([user_field(one) for one in self.table.fields])
        parts = [self.visible(rowset)[1] for rowset in self.table.rowsets.values()]
        table = pa.Table.from_batches([part for part in parts if part is not None], schema)
        statics = [one["id"] for one in self.table.fields if one.get("static")]
        return self.with_statics(table, statics) if statics else table

    def visible(self, rowset: RowSet) -> tuple[pa.Array, pa.RecordBatch | None]:
        """Return the numbers of the visible rows of a RowSet, and the rows."""
        rows, deleted, rules = (
            rowset.entry["rows"],
            self.deleted(rowset),
            self.table.lifetimes or {},
        )
        numbers = pa.array(range(rows))
        if len(deleted) == rows:
            return numbers[:0], None
        columns, hide = Columns(self.log, self.table, rowset), []
        hide = [pc.is_in(numbers, pa.array(deleted, pa.int64()))]
        for tombstone in self.table.range_tombstones:
            if tombstone["epoch"] > rowset.entry.get("clean_epoch", rowset.epoch):
                hide += [columns.region(region) for region in tombstone["regions"]]
        if "rows_ms" in rules:
            hide.append(columns.expired(rules, self.now_ms - rules["rows_ms"]))
        if "expires_column" in rules:
            hide.append(columns.expired({"time_column": rules["expires_column"]}, self.now_ms))
        keep = numbers.is_valid()
        for hidden in hide:
            keep = pc.and_not(keep, hidden)
        found = [columns.read(one) for one in self.table.fields]
        for rule in rules.get("columns", []):
            place = [one["id"] for one in self.table.fields].index(rule["column"])
            gone = columns.expired(rules, self.now_ms - rule["ms"])
            found[place] = pc.if_else(gone, pa.nulls(1, found[place].type)[0], found[place])
        schema = pa.schema([user_field(one) for one in self.table.fields])
        batch = pa.RecordBatch.from_arrays([array.filter(keep) for array in found], schema=schema)
        return numbers.filter(keep), batch

    def deleted(self, rowset: RowSet) -> pyroaring.BitMap:
        """Return the rows that the deletion vector of a RowSet deletes."""
        entry = rowset.vector
        if entry is None:
            return pyroaring.BitMap()
        name = f"{self.table.id}/{entry['object']}.dv"
        data = base64.b64decode(entry["data"]) if "data" in entry else get(self.log.root, name)
        try:
            rows = pyroaring.BitMap.deserialize(checked(data, entry["check"], name))
        except ValueError as error:
            raise FormatError(f"{name}: {error}") from None
        need(len(rows) == entry["cardinality"], f"{name}: another cardinality")
        need(rows.max() < rowset.entry["rows"], f"{name}: a row that the RowSet does not have")
        return rows

    def with_statics(self, table: pa.Table, statics: list[int]) -> pa.Table:
        """Give each row the static values of its partition key.

        The table of static values has the columns of the key, and then the static ones.
        """
        other = self.state.tables.get(statics_id(self.table.id))
        stated = [one["id"] for one in other.fields] if other else []
        keys, own = stated[: len(stated) - len(statics)], [one["id"] for one in self.table.fields]
        if other is None or stated[len(keys) :] != statics or not {*keys} <= {*own}:
            raise FormatError(f"table {self.table.id} and its static values disagree")
        values = TableReader(self.log, self.state, other, self.now_ms).read()
        rows = {key: row for row, key in enumerate(key_rows(values.columns[: len(keys)]))}
        found = key_rows([table.column(own.index(key)) for key in keys])
        place = pa.array([rows.get(key) for key in found], pa.int64())
        for there, number in enumerate(statics, len(keys)):
            here = own.index(number)
            column = values.column(there).take(place)
            table = table.set_column(here, table.schema.field(here), column)
        return table


def key_rows(columns: list[pa.ChunkedArray]) -> list[tuple[Any, ...]]:
    """Return rows as tuples that are equal where the keys are."""
    return list(zip(*(plain(one.combine_chunks()).to_pylist() for one in columns), strict=True))


def plain(array: pa.Array) -> pa.Array:
    """Return times as the integers that represent them, and other values as they are."""
    if pa.types.is_date32(array.type):
        return array.view(pa.int32()).cast(pa.int64())
    if pa.types.is_temporal(array.type):
        return array.view(pa.int64())
    return array.cast(pa.int8()) if pa.types.is_boolean(array.type) else array


class Columns:
    """The columns of one RowSet, with its replacements and the values that it lacks."""

    def __init__(self, log: Log, table: Table, rowset: RowSet) -> None:
        self.fields = {one["id"]: one for one in table.fields}
        self.entry, self.rows = rowset.entry, rowset.entry["rows"]
        self.base = Stored(log, table.id, rowset.entry, rowset.entry)
        self.news = [
            (part["columns"], Stored(log, table.id, part, rowset.entry))
            for part in rowset.entry.get("replacements", [])
        ]

    def read(self, one: Json) -> pa.Array:
        """Return all rows of a column."""
        for replaced, stored in self.news:
            if one["id"] in replaced:
                return stored.read(one)
        if str(one["id"]) in self.base.columns and not one.get("static"):
            return self.base.read(one)
        kind = user_type(one["type"])
        initial = from_bound(one["initial"], kind) if "initial" in one else None
        return pa.nulls(self.rows, kind) if initial is None else pa.repeat(initial, self.rows)

    def region(self, region: list[Json]) -> pa.Array:
        """Say which rows are in a region."""
        inside = pa.repeat(True, self.rows)
        for interval in region:
            array = self.read(self.fields[interval["column"]])
            inside = pc.and_(inside, in_interval(array, interval))
        return inside

    def expired(self, rules: Json, moment_ms: int) -> pa.Array:
        """Say which rows have a time that is not after a moment."""
        if "time_column" in rules:
            column = self.read(self.fields[rules["time_column"]])
        elif str(WRITTEN["id"]) in self.base.columns:
            column = self.base.read(WRITTEN)
        else:
            first, last = self.entry.get("written_ms", [rules.get("since_ms", 0)] * 2)
            need(first == last, f"{self.base.name}: lacks the column _written")
            column = pa.repeat(pa.scalar(first * 1000, pa.timestamp("us")), self.rows)
        day = pa.types.is_date32(column.type)
        moment = moment_ms // DAY_MS if day else moment_ms * 1000
        return pc.fill_null(pc.less_equal(plain(column), moment), False)


def in_interval(array: pa.Array, interval: Json) -> pa.Array:
    """Say which values are in an interval; NULL and NaN never are."""
    values, inside = plain(array), array.is_valid()
    if pa.types.is_floating(array.type):
        inside = pc.and_(inside, pc.invert(pc.is_nan(array)))
    sides = (("low", pc.greater_equal, pc.greater), ("high", pc.less_equal, pc.less))
    for side, closed, opened in sides:
        if side in interval:
            bound = plain(pa.repeat(from_bound(interval[side], array.type), 1))[0]
            compare = opened if interval.get(f"{side}_open") else closed
            inside = pc.and_(inside, compare(values, bound))
    return pc.fill_null(inside, False)


# --- the API --------------------------------------------------------------------------------------


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


class TableView:
    """A table of a database, which was found by name in the head and is followed by its id."""

    def __init__(self, database: Database, name: str) -> None:
        found = database.state.named(name)
        if found is None:
            raise Removed(f"there is no table {name!r}")
        self.database, self.name, self.state = database, name, found

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


def open(path: str | os.PathLike[str]) -> Database:
    """Open a database for reading."""
    return Database(os.fspath(path))
