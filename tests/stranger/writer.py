"""A small writer of the table format, written from its specification alone: a worked example.

It makes a lone table of columns without nested types, appends rows as one RowSet of plain blocks,
and deletes rows by deletion vectors. It refuses whatever it cannot keep true: keys, constraints,
partitions and so on. A change that meets concurrent changes of its rows is a `Conflict`.
"""

from __future__ import annotations

import base64
import json
import os
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyroaring

from .log import Log, State, Table
from .reader import Database
from .stored import EPOCH_LIMIT, Json, Unsupported, crc32c, need
from .values import DAY_MS, stream, user_field, user_type

Path = str | os.PathLike[str]
TYPES = "boolean byte short int long float double string binary date timestamp timestamp_ntz"
BLOCK_LIMIT = 64 << 20


class Conflict(Exception):
    """A concurrent change; nothing was committed."""


class UnknownOutcome(Exception):
    """The change may have been committed, or not."""


# --- the folder -----------------------------------------------------------------------------------


def seal(body: Json) -> bytes:
    """Return the envelope of a body."""
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
    return b'{"crc32c":"%08x","body":%s}\n' % (crc32c(data), data)


def sync(folder: str) -> None:
    """Make the entries of a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: str) -> None:
    """Make a folder and those above it, durably."""
    if not os.path.isdir(folder):
        make_folder(os.path.dirname(folder))
        os.makedirs(folder, exist_ok=True)
    sync(os.path.dirname(folder))


def put_if_absent(root: str, name: str, data: bytes) -> bool:
    """Create an object, whole and durable. Return False where the name is taken, durably.

    Requires: no folder below the root is a symbolic link, which a reader of it has compared.
    """
    path = os.path.join(root, name)
    folder, last = os.path.split(path)
    if last != f"{0:020}.json":
        need(os.path.isfile(os.path.join(root, f"_manifest/{0:020}.json")), "there is no epoch 0")
    make_folder(folder)
    draft = os.path.join(folder, f".tmp-{secrets.token_hex(8)}-{last}")
    with open(draft, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)
        return True
    except FileExistsError:
        return False
    finally:
        os.unlink(draft)
        sync(folder)


def put_new(root: str, name: str, data: bytes) -> None:
    """Create an object under a new random name."""
    need(put_if_absent(root, name, data), f"{name} is taken")


# --- commits --------------------------------------------------------------------------------------


Plan = Callable[[State], list[Json]]


def check_vacuums(log: Log, base: int, head: int, job: str) -> None:
    """Refuse a change if a vacuum since its base may have named an object that its job wrote."""
    for number in range(base + 1, head + 1):
        body = log.slot(number)
        if body is None:
            raise Conflict("an epoch since the base was removed")
        victims = [name for op in body["ops"] for name in op.get("victims", [])]
        if any(name.startswith(job) for name in victims):
            raise Conflict("a vacuum has removed an object of the change")


def commit(root: str, base: State, operation: str, job: str, plan: Plan) -> int:
    """Commit a change at the first free slot. `plan` compares it with each head that it meets."""
    transaction = secrets.token_hex(16)
    for attempt in range(200):
        log = Log(root)
        head = log.head()
        slot = log.slot(base.epoch) or {}
        here = slot.get("transaction") == base.transaction or log.freed(base.epoch)
        if head.database != base.database or head.epoch < base.epoch or not here:
            raise Conflict("the database was removed and made again")
        if head.ended or head.writer_features:
            raise Unsupported(f"dropped, or unknown features {head.writer_features}")
        check_vacuums(log, base.epoch, head.epoch, job)
        now = time.time_ns() // 1_000_000
        number = head.epoch + 1
        body: Json = {"format_version": 1, "epoch": number, "transaction": transaction}
        body |= {"previous": head.transaction, "base": base.epoch}
        body["time_ms"] = max(now, head.time_ms + 1)
        if body["time_ms"] > now + DAY_MS:
            body["clock_ms"] = now
        body |= {"operation": operation, "engine": "stranger", "ops": plan(head)}
        data = seal(body)
        need(len(data) <= EPOCH_LIMIT, "an epoch above 8 MiB")
        head.apply(json.loads(json.dumps(body)))
        if put_if_absent(root, f"_manifest/{body['epoch']:020}.json", data):
            if log.freed(number):
                raise UnknownOutcome(f"the slot {number} was freed meanwhile")
            return number
        time.sleep(secrets.randbelow(20) / 1000 / (attempt + 1))
    raise Conflict("200 slots were lost")


def create(path: Path, columns: Sequence[tuple[Any, ...]], name: str = "t") -> None:
    """Make a lone table. A column is (name, type) or (name, type, nullable)."""
    root = os.path.abspath(path)
    for _, kind, *_ in columns:
        if kind not in TYPES.split() and not kind.startswith("decimal("):
            raise Unsupported(f"this writer does not write {kind}")
        user_type(kind)
    if alone(root) or (os.path.isdir(root) and os.listdir(root)):
        raise FileExistsError(f"{root} is not empty, or is in or above another database")
    now, database = time.time_ns() // 1_000_000, secrets.token_hex(8)
    op = {"op": "create_database", "database": database, "lone_table": True, "format_version": 1}
    op |= {"reader_features": [], "writer_features": [], "slot_block": 16384}
    body = {"format_version": 1, "epoch": 0, "transaction": secrets.token_hex(16), "base": 0}
    body |= {"time_ms": now, "operation": "create_database", "engine": "stranger", "ops": [op]}
    if not put_if_absent(root, f"_manifest/{0:020}.json", seal(body)):
        raise FileExistsError(f"{root} is a database")
    if alone(root):
        raise FileExistsError(f"{root}: a database above or below was made at once")
    fields = [
        {"id": i, "name": column[0], "type": column[1], "nullable": (*column, True)[2]}
        for i, column in enumerate(columns, 1)
    ]
    table: Json = {"op": "create_table", "table": secrets.token_hex(8), "name": name}
    table |= {"table_schema": {"fields": fields}, "next_column_id": len(fields) + 1}

    def plan(head: State) -> list[Json]:
        if head.tables:
            raise Conflict("another writer has made the table")
        return [table]

    commit(root, Log(root).head(), "create_table", secrets.token_hex(8), plan)


def alone(root: str) -> list[str]:
    """Return the databases above and below a folder."""
    above, found = os.path.dirname(os.path.realpath(root)), []
    while True:
        found += [above] if os.path.isdir(os.path.join(above, "_manifest")) else []
        if above == os.path.dirname(above):
            break
        above = os.path.dirname(above)
    below = [b for b, folders, _ in os.walk(root) if "_manifest" in folders and b != root]
    return found + below


# --- rows -----------------------------------------------------------------------------------------


def statistics(array: pa.Array) -> Json:
    """Return the statistics of a column, without bounds, which a writer may leave out."""
    real = pa.types.is_floating(array.type)
    nans = (pc.sum(pc.is_nan(array)).as_py() or 0) if real else 0
    return {"nulls": array.null_count, "nans": nans, "exact": False}


def encode64(data: bytes) -> str:
    """Return bytes as base64."""
    return base64.b64encode(data).decode()


def check_of(data: bytes) -> Json:
    """Return the check of bytes."""
    return {"length": len(data), "crc32c": crc32c(data)}


def packed(fields: list[Json], arrays: list[pa.Array]) -> tuple[bytes, Json]:
    """Return the bytes of a packed RowSet of one block a column, and the fields of its entry."""
    data, columns, stats, rows = b"", {}, {}, len(arrays[0])
    for one, array in zip(fields, arrays, strict=True):
        column = one["id"]
        batch = pa.record_batch([array], names=[str(column)])
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as out:
            out.write_batch(batch)
        block = sink.getvalue().to_pybytes()
        read = stream(block, str(column), "block")
        decoded = max(read.get_total_buffer_size(), array.nbytes)
        need(decoded <= BLOCK_LIMIT, "more than 64 MiB in a column: append less at once")
        stats[str(column)] = statistics(array)
        columns[str(column)] = {
            "type": one["type"], "offset": len(data), "length": len(block), "decoded": decoded,
            "block": {"crc32c": crc32c(block), "encoding": "plain"},
            "statistics": stats[str(column)],
        }  # fmt: skip
        data += block
    footer = seal({"format_version": 1, "rows": rows, "cuts": rows, "columns": columns})
    entry = {"place": "packed", "rows": rows, "bytes": len(data) + len(footer), "cuts": rows}
    return data + footer, entry | {"footer": check_of(footer), "statistics": stats}


def lone(state: State) -> Table:
    """Return the lone table, if this writer can keep all its rules."""
    tables = [table for table in state.tables.values() if not table.statics_of]
    special = {"generated", "identity", "static", "default"}
    for table in tables:
        rules = table.rules | {key for one in table.fields for key in special & one.keys()}
        if rules or len(tables) > 1:
            raise Unsupported(f"this writer cannot keep the rules of {table.name}: {rules}")
    need(tables, "there is no table")
    return tables[0]


def columns_of(table: Table, rows: pa.Table | list[Json]) -> pa.Table:
    """Return rows in the user form of a table."""
    schema = pa.schema([user_field(f) for f in table.fields])
    for one in table.fields:
        if one["type"] not in TYPES.split() and not str(one["type"]).startswith("decimal("):
            raise Unsupported(f"this writer does not write {one['type']}")
    if not isinstance(rows, pa.Table):
        unknown = {key for row in rows for key in row} - set(schema.names)
        need(not unknown, f"unknown columns {unknown}")
        rows = pa.Table.from_pylist(rows, schema)
    rows = rows.select(schema.names).cast(schema).combine_chunks()
    rows.validate(full=True)
    for one, column in zip(schema, rows.columns, strict=True):
        if not one.nullable and column.null_count:
            raise ValueError(f"NULL in {one.name}")
    return rows


def append(path: Path, rows: pa.Table | list[Json]) -> int:
    """Append rows to a lone table as one RowSet, and return the epoch."""
    root = os.path.abspath(path)
    base = Database(root).state
    table = lone(base)
    found = columns_of(table, rows)
    if not found.num_rows:
        return base.epoch
    data, entry = packed(table.fields, [pa.concat_arrays(c.chunks) for c in found.columns])
    job = secrets.token_hex(8)
    entry = {"object": job + secrets.token_hex(8), "sort_order_id": 0} | entry
    put_new(root, f"{table.id}/{entry['object']}.rowset", data)

    def plan(head: State) -> list[Json]:
        now = head.tables.get(table.id)
        if now is None or now.created != table.created or now.fields != table.fields:
            raise Conflict("the table was dropped or altered")
        lone(head)
        return [{"op": "add_rowset", "table": table.id, "rowset": entry}]

    return commit(root, base, "append", job, plan)


def delete(path: Path, name: str, where: Callable[[Json], bool]) -> int:
    """Delete the rows that meet a condition, and return the epoch."""
    root = os.path.abspath(path)
    database = Database(root)
    base, view = database.state, database.table(name).at()
    table = view.table
    gone: dict[int, pyroaring.BitMap] = {}
    for rowset in table.rowsets.values():
        numbers, values = view.visible(rowset)
        found = values.to_pylist() if values is not None else []
        met = [n for n, row in zip(numbers.to_pylist(), found, strict=True) if where(row)]
        if met:
            gone[rowset.id] = pyroaring.BitMap(met)
    if not gone:
        return base.epoch
    job = secrets.token_hex(8)
    ops: list[Json] = []
    for number, bitmap in gone.items():
        rowset = table.rowsets[number]
        bitmap |= view.deleted(rowset)
        if len(bitmap) == rowset.entry["rows"]:
            ops.append({"op": "drop_rowset", "rowsets": [[number, number]], "kind": "delete"})
            continue
        data = bitmap.serialize()
        vector: Json = {"object": job + secrets.token_hex(8), "cardinality": len(bitmap)}
        vector["check"] = check_of(data)
        if rowset.vector:
            vector["predecessor"] = rowset.vector["object"]
        if len(data) <= 1024:
            vector["data"] = encode64(data)
        else:
            put_new(root, f"{table.id}/{vector['object']}.dv", data)
        ops.append({"op": "add_deletion_vector", "rowset": number, "vector": vector})

    def plan(head: State) -> list[Json]:
        now = head.tables.get(table.id)
        if now is None or now.created != table.created:
            raise Conflict("the table was dropped")
        if any(now.rowsets.get(number) != table.rowsets[number] for number in gone):
            raise Conflict("another writer has changed a RowSet that has some of the rows")
        return [{"op": op["op"], "table": table.id} | op for op in ops]

    return commit(root, base, "delete", job, plan)
