"""A log that vacuum has been at, as an earlier writer left it, is read and written the same.

`python -m tests.spec.test_golden_vacuum` makes the files; existing ones are never edited.
Specification: docs/spec/vacuum.md
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from manifests.change import Change
from manifests.errors import NotFoundError
from manifests.ids import new_transaction_id
from manifests.log import Log, create_database
from manifests.operations import CreateTable, DropRowSet, Lease, Operation, Pin, Tag
from manifests.store import LocalStore, MemoryStore, ObjectStore
from manifests.vacuum.run import VacuumRequest, vacuum
from tests.spec.test_golden_log import INTERVAL, ORDERS, SCHEMA, add, counted_ids, rowset

GOLDEN = Path(__file__).parent / "golden" / "log-v1-vacuum"
START = 1_700_000_000_000
FLOOR, KEPT, HEAD = 7, 2, 10


def write_log(store: ObjectStore) -> None:
    """Epoch 2 has a tag; the vacuum of epoch 9 moves the floor to a lease's, epoch 7."""
    ticks = itertools.count(START, 1000)
    log = Log(store, clock_ms=lambda: next(ticks), checkpoint_interval=INTERVAL, engine="golden")
    state = create_database(store, lone_table=False, clock_ms=lambda: next(ticks), engine="golden")

    def commit(name: str, *ops: Operation) -> None:
        nonlocal state
        state = log.commit(Change(new_transaction_id(), name, ops), state)

    commit("create_table", CreateTable(
        table=ORDERS, name="orders", table_schema=SCHEMA, next_column_id=12
    ))  # fmt: skip
    for number in (1, 2, 3):
        commit("append", *add(rowset(number)))
        store.put(f"{ORDERS}/{rowset(number).object}.rowset", b"R", sync=False)
    commit("tag", Tag(name="first", epoch=KEPT))
    commit("overwrite", DropRowSet(table=ORDERS, rowsets=((0, 2),)), *add(rowset(4)))
    commit("pin", Pin(name="over", epoch=1, until_ms=START))
    commit("lease", Lease(job="00000000000000bb", epoch=FLOOR, until_ms=2 * START))
    vacuum(log, VacuumRequest(0, threads=1))
    state = log.refresh(state)
    commit("append", *add(rowset(5)))


def states(store: ObjectStore) -> dict[str, Any]:
    """What a reader must find."""
    log = Log(store)
    head = log.read_head()
    found: dict[str, Any] = {
        "floor": head.floor,
        "anchors": [anchor.epoch for anchor in head.anchors],
        "pins": sorted(head.pins),
        "leases": [lease.model_dump() for lease in head.leases.values()],
    }
    for epoch in range(HEAD + 1):
        if head.keeps(epoch):
            state = log.read_at(epoch)
            tables = list(state.tables.values())
            found[str(epoch)] = [
                [r.id, r.entry.object] for t in tables for r in log.read_rowsets(t)
            ]
    return found


def written() -> MemoryStore:
    """The log as today's writer makes it."""
    store = MemoryStore(now_ms=lambda: START)
    with counted_ids():
        write_log(store)
    return store


def test_an_earlier_log_reads_as_it_did() -> None:
    store = LocalStore(GOLDEN / "whole")
    assert states(store) == json.loads((GOLDEN / "states.json").read_text())
    with pytest.raises(NotFoundError, match=f"oldest readable epoch is {FLOOR}"):
        Log(store).read_at(3)


def test_the_log_is_still_written_the_same() -> None:
    store = written()
    files = {f.name: store.get(f.name) for f in store.list("")}
    known = LocalStore(GOLDEN / "whole")
    assert files == {f.name: known.get(f.name) for f in known.list("")}


def make() -> None:
    """Write the files; refuses to touch existing ones."""
    GOLDEN.mkdir(parents=True)
    made, golden = written(), LocalStore(GOLDEN / "whole")
    for info in made.list(""):
        golden.put(info.name, made.get(info.name), sync=False)
    (GOLDEN / "states.json").write_text(json.dumps(states(made), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    make()
