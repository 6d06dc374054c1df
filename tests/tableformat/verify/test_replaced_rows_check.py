"""What an epoch says of the rows that its new rows replace is checked, and damage is named."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest

from colonnade import ArrowTable, WriteSettings
from colonnade.manifests.arrays.origins import NEW, encode_origins
from colonnade.manifests.commit.rebase.origin import write_origin
from colonnade.manifests.ids import new_job_id
from colonnade.manifests.limits import Limits
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.epoch import Epoch
from colonnade.manifests.model.operations import ReplaceRows
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.location import Location
from colonnade.tableformat.verify.replaced_rows_check import check_replaced_rows
from colonnade.tableformat.verify.run import verify
from tests.tableformat.statements.tables import made

SCHEMA = pa.schema([("id", pa.int64()), ("x", pa.int64())])


def table_of(inline_bytes: int = 1024, listed_rowsets: int = 1024) -> ArrowTable:
    """Two updates and an upsert: rows of two RowSets move, one of them whole, and two are new."""
    store = MemoryStore()
    made(store, SCHEMA)
    log = Log(store, limits=Limits(inline_bytes=inline_bytes, listed_rowsets=listed_rowsets))
    table = ArrowTable(Location(store, "t", exists=True), log, log.reader.read_head())
    rows = pa.table({"id": range(20), "x": [0] * 20}, SCHEMA)
    table.append(rows, settings=WriteSettings(max_records=10))
    table.delete("id IN (1, 12)")
    table.update({"x": 1}, "id IN (0, 2, 3, 11)")
    table.upsert(pa.table({"id": [*range(13, 22)], "x": [2] * 9}, SCHEMA), on="id")
    table.update({"x": 3}, settings=WriteSettings(max_records=4))
    return table


@pytest.mark.parametrize("inline_bytes", [0, 1024])
@pytest.mark.parametrize("listed_rowsets", [1, 1024])
def test_epochs_that_replace_rows_are_sound(inline_bytes: int, listed_rowsets: int) -> None:
    table = table_of(inline_bytes, listed_rowsets)
    assert verify(table._log, 2).findings == ()


def last_with(table: ArrowTable, places: Sequence[int]) -> tuple[Epoch, list[str]]:
    """The last epoch with other replaced rows, and what is wrong with it."""
    log = table._log
    [epoch] = log.reader.read_epochs(table.epoch, 1)
    data = encode_origins([np.array(places, np.int64)])
    origin = write_origin(log.store, table._state.prefix, new_job_id(), data)
    ops = tuple(
        op.model_copy(update={"origin": origin}) if isinstance(op, ReplaceRows) else op
        for op in epoch.ops
    )
    changed = epoch.model_copy(update={"ops": ops})
    before = log.reader.read_at(table.epoch - 1)
    return changed, [each.problem for each in check_replaced_rows(log.reader, before, changed)]


ALL = [(rowset << 32) + row for rowset, rows in enumerate([6, 1, 4, 9]) for row in range(rows)]
"""The rows that the last epoch deletes, in four RowSets."""


@pytest.mark.parametrize(
    ("places", "problem"),
    [
        (ALL, None),
        ([NEW, *ALL[:-1]], None),
        ([*ALL[:-1], ALL[-1] + 1], "replaces rows that it does not delete in table 't'"),
        ([-7, *ALL[1:]], "replaces rows that it does not delete in table 't'"),
        ([*ALL[:6], ALL[6] + 1, *ALL[7:]], "replaces rows that it does not delete in table 't'"),
        ([4 << 32, *ALL[1:]], "replaces rows that it does not delete in table 't'"),
        ([3, 4, 3, *ALL[5:], NEW, NEW], "replaces a row twice in table 't'"),
        (ALL[:-1], "does not have the origins of 20 rows"),
    ],
)
def test_rows_that_an_epoch_cannot_have_replaced_are_damage(
    places: list[int], problem: str | None
) -> None:
    _, problems = last_with(table_of(), places)
    assert len(problems) == (problem is not None)
    assert all(str(problem) in each for each in problems)


def test_a_lost_origin_is_damage_at_the_depth_that_reads_it() -> None:
    table = table_of(inline_bytes=0)
    store = table._log.store
    lost = [each.name for each in store.list("") if each.name.endswith(".origin")]
    assert len(lost) == 3
    store.delete(lost[0])
    assert verify(table._log, 1).findings == ()
    [finding] = verify(table._log, 2).findings
    assert (finding.kind, finding.file, finding.table) == ("damage", lost[0], "t")
