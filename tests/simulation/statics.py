"""Static columns, set and deleted beside rows, compactions and vacuums by processes that die.

Every process works on one store in memory, whose calls pass the turn (`expiring.py`). Each change
says in its epoch what it was meant to do. Whatever landed is done again by a model, in the order of
the epochs, and each epoch must read as the model.
"""

from __future__ import annotations

import json
import random
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from colonnade.manifests.log.log import Log, create_database
from colonnade.manifests.model.codec import decode_slot
from colonnade.manifests.model.epoch import Epoch
from colonnade.tableformat.compaction.run import compact_here
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.write.settings import CommitSettings
from tests.simulation.expiring import ProcessStore
from tests.simulation.lives import Life

WORK = 40
DEVICES = 4
START_MS = 1_700_000_000_000
SCHEMA = pa.schema(
    [("device", pa.int64()), ("at", pa.int64()), ("v", pa.int64()), ("owner", pa.string())]
)

Intent = dict[str, Any]
"""What a change was meant to do: `rows` to merge, `given` and `set` owners, and `gone` devices."""


@dataclass
class Contents:
    """What a table holds: rows by key, and owners by device."""

    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    owners: dict[int, str | None] = field(default_factory=dict)

    def do(self, intent: Intent) -> None:
        for device, at, value in intent.get("rows", ()):
            self.rows[device, at] = value
        for device, owner in intent.get("given", ()):
            if owner is not None:
                self.owners[device] = owner
        for device, owner in intent.get("set", ()):
            self.owners[device] = owner
        for device in intent.get("gone", ()):
            self.owners.pop(device, None)

    def shown(self) -> list[tuple[int, int, int, str | None]]:
        return [(d, a, v, self.owners.get(d)) for (d, a), v in sorted(self.rows.items())]


class Record:
    """What landed: each epoch, and the contents after it."""

    def __init__(self) -> None:
        self.epochs: list[Epoch] = []
        self.after: list[Contents] = []
        self.statics = 0

    def land(self, data: bytes, number: int, now_ms: int) -> None:
        """An epoch was put, at a time that static values do not depend on."""
        epoch = decode_slot(data, number, f"epoch {number}")
        assert isinstance(epoch, Epoch)
        assert number == len(self.epochs)
        now = deepcopy(self.after[-1]) if self.after else Contents()
        note = epoch.parameters.get("userMetadata")
        intent: Intent = json.loads(note) if note else {}
        now.do(intent)
        self.statics += any(intent.get(kind) for kind in ("given", "set", "gone"))
        self.epochs.append(epoch)
        self.after.append(now)


class Process:
    """One process that works on the table."""

    def __init__(self, world: Statics, order: random.Random) -> None:
        self._world, self._order = world, order
        record: Any = world.record
        store = ProcessStore(world.shared, record, world.meet, world.clock)
        log = Log(
            store,
            clock_ms=world.clock,
            checkpoint_interval=4,
            pause=lambda _: world.meet(),
        )
        self._log = log
        self._database = ArrowDatabase(store, log, log.reader.read_head())

    def work(self) -> None:
        """Do one piece of work."""
        kinds = ("rows", "values", "set", "forget", "compact", "read")
        match self._order.choices(kinds, (6, 3, 4, 1, 2, 4))[0]:
            case "rows":
                self._merge()
            case "values":
                self._give()
            case "set":
                self._set()
            case "forget":
                device = self._order.randrange(DEVICES)
                commit = self._note({"gone": [device]})
                self._database.table("t").statics.delete(f"device = {device}", commit=commit)
            case "compact":
                table = self._database.table("t")
                begun = self._order.choice((table, table.statics)).optimize()
                begun = begun.option("min-rowsets", 2).option("deleted-share", 0)
                begun._elsewhere(compact_here(self._log.store, 1)).executeCompaction()
            case "read":
                self.read()

    def _note(self, intent: Intent) -> CommitSettings:
        return CommitSettings(metadata=json.dumps(intent))

    def _owner(self) -> str | None:
        # Few owners, so that a value is often there already.
        return self._order.choice(("ann", "bo", None))

    def _merge(self) -> None:
        order = self._order
        rows = [
            (order.randrange(DEVICES), order.randrange(3), order.randrange(100)) for _ in range(3)
        ]
        given = [(device, self._owner()) for device, _, _ in rows]
        columns = [*zip(*rows, strict=True), [owner for _, owner in given]]
        if order.random() < 0.4:
            given, columns = [], columns[:3]
        data = pa.table([*map(pa.array, columns)], schema=pa.schema(list(SCHEMA)[: len(columns)]))
        commit = self._note({"rows": rows, "given": given})
        table = self._database.table("t")
        if order.random() < 0.5:
            table.upsert(data, commit=commit)
        else:
            table.append(data, commit=commit)

    def _give(self) -> None:
        given = [(self._order.randrange(DEVICES), self._owner()) for _ in range(2)]
        devices, owners = zip(*given, strict=True)
        data = pa.table(
            {"device": pa.array(devices, pa.int64()), "owner": pa.array(owners, pa.string())}
        )
        self._database.table("t").upsert(data, commit=self._note({"given": given}))

    def _set(self) -> None:
        devices, owner = self._order.sample(range(DEVICES), 2), self._owner()
        commit = self._note({"set": [(device, owner) for device in devices]})
        text = None if owner is None else f"'{owner}'"
        where = f"device IN ({devices[0]}, {devices[1]})"
        self._database.table("t").update({"owner": text}, where, commit=commit)

    def read(self) -> None:
        """Compare one scan with the model: of the head, or of an earlier epoch."""
        record, order = self._world.record, self._order
        epoch = order.randint(1, len(record.epochs) - 1) if order.random() < 0.4 else None
        table = self._database.table("t")
        scan = table.scan(epoch=epoch)
        model = record.after[scan.epoch]
        found = scan.to_arrow()
        columns = [found[name].to_pylist() for name in SCHEMA.names]
        assert sorted(zip(*columns, strict=True)) == model.shown(), f"epoch {scan.epoch}"
        scan = table.statics.scan(epoch=epoch)
        kept = scan.to_arrow()
        owners = dict(zip(kept["device"].to_pylist(), kept["owner"].to_pylist(), strict=True))
        assert len(owners) == kept.num_rows
        model = record.after[scan.epoch]
        for device in range(DEVICES):
            assert owners.get(device) == model.owners.get(device), f"epoch {scan.epoch}"
        self._world.reads += 1


class Statics(Life):
    """One run."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, WORK)
        self._now_ms = START_MS
        self.record, self.reads = Record(), 0

    def clock(self) -> int:
        """The time of all processes, which passes at each look."""
        self._now_ms += 1
        return self._now_ms

    def begin(self) -> None:
        """Make a table with a static column, and with a row of each device."""
        record: Any = self.record
        store = ProcessStore(self.shared, record, lambda: None, self.clock)
        base = create_database(store, lone_table=False, clock_ms=self.clock)
        table = ArrowDatabase(store, Log(store, clock_ms=self.clock), base).create_table(
            "t",
            SCHEMA,
            primary_key=["device", "at"],
            static=["owner"],
            properties={"onDuplicate": "merge"},
        )
        rows = [(device, 0, 0) for device in range(DEVICES)]
        columns = [pa.array(each, pa.int64()) for each in zip(*rows, strict=True)]
        note = CommitSettings(metadata=json.dumps({"rows": rows}))
        table.append(pa.table(columns, names=["device", "at", "v"]), commit=note)

    def worker(self) -> Process:
        """Start a process."""
        return Process(self, self.order)


def simulate_statics(seed: int) -> Statics:
    """Run one seed. Raises AssertionError that names it where something is wrong."""
    try:
        run = Statics(seed)
        run.live()
        return run
    except Exception as error:
        raise AssertionError(f"seed {seed}: {error!r}") from error
