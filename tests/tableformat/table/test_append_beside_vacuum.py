"""An append needs no base: it is committed whatever a vacuum removes meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from unittest import mock

import pyarrow as pa
import pytest

from colonnade.manifests.errors import CommitUnknownError, ConflictError, NotFoundError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.log.log import TRIES, Log, create_database
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.vacuum.run import VacuumRequest, vacuum
from colonnade.tableformat.table.database import ArrowDatabase
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.write.settings import CommitSettings
from tests.tableformat.table.beside import Beside

SCHEMA = pa.schema([("id", pa.int64())])
MINE = [100, 101]


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": [*ids]}, SCHEMA)


def world(inline_bytes: int, call: int = 0) -> tuple[ArrowTable, Beside, ArrowTable]:
    """A table with rows, as a writer that is disturbed at a call sees it, and as others do."""
    store = MemoryStore()
    limits = replace(LIMITS, inline_bytes=inline_bytes)
    base = create_database(store, lone_table=False, slot_block=1)
    others = ArrowDatabase(store, Log(store, pause=lambda _: None, limits=limits), base)
    other = others.create_table("t", SCHEMA)
    other.append(rows(1))
    way = Beside(store)
    log = Log(way, pause=lambda _: None, limits=limits)
    mine = ArrowDatabase(way, log, log.reader.read_head()).table("t")
    way.trace.clear()
    way.call = call
    return mine, way, other


def disturbed(other: ArrowTable) -> None:
    """Two appends, and a vacuum that keeps the newest epoch alone."""
    for _ in range(2):
        other.append(rows(2))
    log = Log(other._log.store, pause=lambda _: None)
    vacuum(log, VacuumRequest(0, 1, threads=1, trust_clock=True))


def tries(inline_bytes: int, data: Callable[[], object]) -> Iterator[ConflictError | None]:
    """The conflict of an append, if any, that is disturbed right before each of its calls."""
    call = 0
    while True:
        call += 1
        mine, way, other = world(inline_bytes, call)
        way.acts = (partial(disturbed, other),)
        conflict, told = None, "was committed"
        try:
            mine.append(data())
        except ConflictError as error:
            conflict = error
        except CommitUnknownError as error:
            # The epoch was removed between its PUT and the look for the mark.
            told = error.message
        assert "was committed" in told
        other.refresh()
        found = sorted(other.scan().to_arrow()["id"].to_pylist())
        want = [1] if way.acts else [1, 2, 2]
        assert found == (want if conflict else want + MINE)
        yield conflict
        if way.acts:
            return


@pytest.mark.parametrize("inline_bytes", [0, LIMITS.inline_bytes])
def test_rows_in_memory_are_appended_whenever_a_vacuum_comes(inline_bytes: int) -> None:
    conflicts = [*tries(inline_bytes, lambda: rows(*MINE))]
    assert len(conflicts) > 3
    assert not any(conflicts)


@pytest.mark.parametrize("inline_bytes", [0, LIMITS.inline_bytes])
def test_rows_of_a_stream_are_appended_once_or_not_at_all(inline_bytes: int) -> None:
    conflicts = [*tries(inline_bytes, lambda: rows(*MINE).to_reader())]
    assert any(conflicts)
    assert not all(conflicts)


def test_an_append_that_always_meets_a_conflict_gives_up() -> None:
    mine, _, _ = world(0)
    never = ConflictError("Not yet.")
    with (
        mock.patch("colonnade.tableformat.table.writes.change_of", side_effect=never) as sent,
        pytest.raises(ConflictError, match="Not yet"),
    ):
        mine.append(rows(*MINE))
    assert sent.call_count == TRIES


def test_an_append_with_an_expected_epoch_is_not_repeated() -> None:
    mine, way, other = world(0, call=3)
    way.acts = (partial(disturbed, other),)
    with pytest.raises(ConflictError):
        mine.append(rows(*MINE), commit=CommitSettings(expect_epoch=mine.epoch))
    assert not way.acts


def test_an_append_to_a_table_that_is_dropped_meanwhile_is_not_repeated() -> None:
    mine, way, other = world(0, call=3)
    database = ArrowDatabase(other._log.store, other._log, other._refresh())
    way.acts = (lambda: database.drop_table("t"),)
    with pytest.raises((NotFoundError, ConflictError), match="t"):
        mine.append(rows(*MINE))
    assert not way.acts
