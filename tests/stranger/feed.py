"""The change feed of a table. It knows no fills, lifetimes or static values."""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyroaring

from .log import Removed, RowSet, Table
from .reader import TableReader, TableView, plain
from .stored import Json, checked, get, need
from .values import user_type

LOW = 2**32 - 1
Ways = dict[int, tuple[int, bool]]
"""For RowSet * 2**32 + row of a row: that of its ancestor, and whether it is touched."""


class Feed:
    """The epochs of a table, and the rows of each."""

    def __init__(self, view: TableView) -> None:
        self.log, self.head, self.id = view.database.log, view.database.state, view.state.id
        self.table, self.ways = cache(self.at), cache(self.follow)

    def at(self, epoch: int) -> Table:
        """Return the table at an epoch, or one without rows."""
        return self.log.at(self.head, epoch).tables.get(self.id) or Table(self.id, "", [], epoch)

    def operations(self, epoch: int) -> list[Json]:
        """Return what an epoch does to the table."""
        ops = (self.log.slot(epoch) or {"ops": []})["ops"]
        return [op for op in ops if op.get("table") == self.id]

    def live(self, rows: int, vector: Json | None) -> pyroaring.BitMap:
        """Return the rows that a vector does not delete."""
        reader = TableReader(self.log, self.head, self.table(self.head.epoch), 0)
        deleted = reader.deleted(RowSet(0, 0, {"rows": rows}, vector))
        return pyroaring.BitMap(range(rows)) - deleted

    def origin(self, stored: Json) -> Iterator[tuple[int, int] | None]:
        """Yield the number of each row of an origin, in two halves."""
        name, last = f"{self.id}/{stored['object']}.origin", dict[int, int]()
        data = base64.b64decode(stored["data"]) if "data" in stored else get(self.log.root, name)
        codes, block = zlib.decompress(checked(data, stored["check"], name)), 8 * 65_536
        for start in range(0, len(codes), block):
            table = np.frombuffer(codes[start : start + block], np.uint8).reshape(2, 4, -1)
            for place, code in table.transpose(2, 0, 1).copy().view("<u4")[:, :, 0].tolist():
                step = -(code + 1) // 2 if code % 2 else code // 2
                last[place] = last.get(place, -1) + step
                yield (place, last[place]) if place or code else None

    def moved(self, epoch: int) -> Iterator[tuple[int, int, bool]]:
        """Yield a row with a predecessor, the predecessor, and whether it was rewritten."""
        before, after = self.table(epoch - 1).rowsets, self.table(epoch).rowsets
        number = self.table(epoch - 1).next_rowset
        for op in self.operations(epoch):
            if op["op"] == "compaction":
                sizes = [each["rowset"]["rows"] for each in op["outputs"]]
                vectors = [None if "origin" in op else each.get("vector") for each in op["inputs"]]
                lives = map(self.live, (each["rows"] for each in op["inputs"]), vectors)
                places = [*zip((each["rowset"] for each in op["inputs"]), lives, strict=True)]
            elif op["op"] == "replace_rows":
                sizes = [each.entry["rows"] for n, each in after.items() if n >= number]
                gone = {n: self.live(old.entry["rows"], old.vector) for n, old in before.items()}
                for n in gone.keys() & after.keys():
                    gone[n] -= self.live(before[n].entry["rows"], after[n].vector)
                places = [(n, gone[n]) for n in sorted(gone) if gone[n]]
            else:
                continue
            added = [number + i << 32 | row for i, rows in enumerate(sizes) for row in range(rows)]
            every = [(i, n) for i, (_, rows) in enumerate(places) for n in range(len(rows))]
            found = self.origin(op["origin"]) if "origin" in op else every
            for new, came in zip(added, found, strict=True):
                if came is not None:
                    rowset, rows = places[came[0]]
                    yield new, rowset << 32 | rows[came[1]], op["op"] == "replace_rows"
            number += len(sizes)

    def restored(self, base: int, epoch: int, then: int) -> Iterator[tuple[int, tuple[int, bool]]]:
        """Yield a restored row with an ancestor at the base, the ancestor, and if it differs."""
        olds, lost = self.table(base).rowsets, dict[tuple[str, int], int]()
        same = {old.entry["object"]: old for old in olds.values()}
        with suppress(Removed):
            names = {n: each.entry["object"] for n, each in self.table(then).rowsets.items()}
            for number, (ancestor, _) in self.ways(min(base, then), max(base, then)).items():
                here, there = (number, ancestor) if then >= base else (ancestor, number)
                if here >> 32 in names and there >> 32 in olds:
                    lost[names[here >> 32], here & LOW] = there
        for n, new in self.table(epoch).rowsets.items():
            name, old = new.entry["object"], same.get(new.entry["object"])
            live = self.live(old.entry["rows"], old.vector) if old else ()
            for row in range(new.entry["rows"] * (n >= self.table(epoch - 1).next_rowset)):
                came = old.id << 32 | row if old and row in live else lost.get((name, row))
                if came is not None:
                    home = olds[came >> 32].entry
                    kept = [home["object"], home.get("replacements")]
                    yield n << 32 | row, (came, kept != [name, new.entry.get("replacements")])

    def follow(self, base: int, last: int) -> Ways:
        """Return the ancestors at the base of rows at the last epoch, and of rows that are gone."""
        if base == last:
            sizes = {n: each.entry["rows"] for n, each in self.table(base).rowsets.items()}
            numbers = [n << 32 | row for n, rows in sizes.items() for row in range(rows)]
            return {number: (number, False) for number in numbers}
        ways, ops = dict(self.ways(base, last - 1)), self.operations(last)
        for op in ops:
            if op["op"] == "replace_column" and not op.get("fill"):
                rows = self.table(last - 1).rowsets[op["rowset"]].entry["rows"]
                same = self.live(rows, op["changed"]) if "changed" in op else ()
                changed = {op["rowset"] << 32 | row for row in range(rows) if row not in same}
                ways |= {number: (ways[number][0], True) for number in changed & ways.keys()}
        for new, old, rewritten in self.moved(last):
            if old in ways:
                ways[new] = ways[old][0], ways[old][1] or rewritten
        for op in ops:
            if op["op"] == "restore":
                ways |= dict(self.restored(base, last, op["epoch"]))
        return ways

    def rows(self, epoch: int, fields: list[Json]) -> dict[int, tuple[Any, ...]]:
        """Return the visible rows at an epoch, with the columns of another one."""
        table, found = self.table(epoch), dict[int, tuple[Any, ...]]()
        own, shown = {one["id"]: one for one in table.fields}, {one["id"] for one in fields}
        stored = [
            one | {"id": own.get(one["id"], {"id": -n})["id"]} for n, one in enumerate(fields)
        ]
        stored = [
            one | {"type": own[one["id"]]["type"]}
            if one["id"] in own and isinstance(one["type"], str)
            else one
            for one in stored
        ]
        others = [one for one in table.fields if one["id"] not in shown]
        reader = TableReader(self.log, self.head, replace(table, fields=[*stored, *others]), 0)
        for rowset in table.rowsets.values():
            numbers, batch = reader.visible(rowset)
            columns = []
            for one, have, array in zip(
                fields, stored, batch.columns if batch else [], strict=False
            ):
                same = have["type"] == one["type"]
                fitted = array if same else array.cast(user_type(one["type"]))
                need(same or values(fitted.cast(array.type)) == values(array), "no fit")
                columns.append(values(fitted))
            keys = [rowset.id << 32 | n for n in numbers.to_pylist()]
            found |= zip(keys, zip(*columns, strict=True), strict=True)
        return found

    def changes(self, first: int, last: int) -> Iterator[tuple[str, int, int, Any]]:
        """Yield the changes of a span: the kind, the epoch, the number of the row, its values."""
        fields, ways = self.table(last).fields, self.ways(first - 1, last)
        before, after = self.rows(first - 1, fields), self.rows(last, fields)
        came = {n: ways[n] for n in after if n in ways and ways[n][0] in before}
        gone = before.keys() - {old for old, _ in came.values()}
        key = self.table(last).key
        places = [n for n, one in enumerate(fields) if one["id"] in key]
        same = key and self.table(first - 1).key == key
        by_key = {tuple(before[old][n] for n in places): old for old in gone if same}
        for number in after.keys() - came.keys():
            if (old := by_key.get(tuple(after[number][n] for n in places))) is not None:
                came[number] = old, True
        epoch = max((e for e in range(first, last + 1) if self.operations(e)), default=0)
        for old in before.keys() - {old for old, _ in came.values()}:
            yield "delete", epoch, old, before[old]
        for number in after.keys() - came.keys():
            yield "insert", epoch, number, after[number]
        for number, (old, touched) in came.items():
            if touched and before[old] != after[number]:
                yield "update_preimage", epoch, old, before[old]
                yield "update_postimage", epoch, number, after[number]


def values(array: pa.Array) -> list[Any]:
    """Return the values of a column. They are equal where the feed says so."""
    found: list[Any]
    if pa.types.is_struct(array.type):
        found = [*zip(*map(values, array.flatten()), strict=True)]
    elif pa.types.is_list(array.type) or pa.types.is_map(array.type):
        lists = pa.types.is_list(array.type)
        parts = [array.values] if lists else [array.keys, array.items]
        inner = [*zip(*map(values, parts), strict=True)]
        found = [tuple(inner[a:b]) for a, b in pairwise(array.offsets.to_pylist())]
    else:
        found = [repr(one) if isinstance(one, float) else one for one in plain(array).to_pylist()]
    there = array.is_valid().to_pylist()
    return [one if valid else None for one, valid in zip(found, there, strict=True)]
