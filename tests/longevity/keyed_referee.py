"""Check tables with a primary key against all batches that were sent, to the last sum."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import colonnade
from colonnade.manifests.store import StoreAddress
from tests.longevity.keyed_roles import (
    NEWEST,
    NEWEST_SCHEMA,
    PROPERTIES,
    SEATS,
    SUMS,
    SUMS_SCHEMA,
    WRITERS,
    Rows,
    Tables,
    batch_of,
    last_done,
    send,
)
from tests.longevity.record import Record, read_lines
from tests.longevity.referee import judge_rest, judge_work
from tests.longevity.setting import Play, Setting, tell_rounds


def begin(setting: Setting, seed: int) -> None:
    """Make the tables; with an odd seed they have partitions."""
    database = colonnade.open_database(setting.place)
    for name, schema in ((SUMS, SUMS_SCHEMA), (NEWEST, NEWEST_SCHEMA)):
        database.create_table(
            name,
            schema,
            primary_key=["k"],
            properties={**setting.properties, **PROPERTIES[name]},
            partition_by=["bucket(2, k)"] if seed % 2 else (),
        )


def judge(place: StoreAddress, records: Path) -> Iterator[str]:
    """Whatever is wrong, in words. Sends the last batches again, so that it knows all of them."""
    yield from judge_work(records)
    want = Tables()
    for seat in _writers():
        own = Tables()
        for number in range(last_done(records, seat) + 1):
            own.apply(batch_of(seat, number))
            want.apply(batch_of(seat, number))
        last = batch_of(seat, last_done(records, seat) + 1)
        send(place, seat, last, own, Record(records, "last"))
        want.apply(last)
    yield from _judge_rows(place, want)
    yield from judge_rest(place)
    yield from _judge_rows(place, want)


def _writers() -> list[str]:
    return [f"writer-{number}" for number in range(WRITERS)]


def _judge_rows(place: StoreAddress, want: Tables) -> Iterator[str]:
    yield from _differences(place, SUMS, want.sums)
    yield from _differences(place, NEWEST, want.newest)


def _differences(place: StoreAddress, name: str, want: Rows) -> Iterator[str]:
    rows = colonnade.open(place / name).scan().to_arrow().to_pylist()
    found = {row.pop("k"): row for row in rows}
    if len(found) != len(rows):
        yield f"rows of {name} share a key"
    for k in sorted(found.keys() | want.keys()):
        if found.get(k) != want.get(k):
            yield f"key {k} of {name} has {found.get(k)} and not {want.get(k)}"


def _tell(records: Path) -> str:
    done = sum(last_done(records, seat) + 1 for seat in _writers())
    again = sum("again" in line for seat in _writers() for line in read_lines(records, seat))
    return f"{done} batches done, {again} sent again; {tell_rounds(records)}"


KEYED = Play(SEATS, begin, _tell, judge, "tests.longevity.preloaded")
"""Writers of two tables with a primary key."""
