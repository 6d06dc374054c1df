"""Whatever rewrites data reads back what it wrote, and commits nothing that is not the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest

from colonnade.manifests.arrays.origins import Rows
from colonnade.manifests.compaction.plan import GroupKind
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.schema import SchemaField
from colonnade.tableformat.compaction.run import run_job
from colonnade.tableformat.rowset.block import encode_block
from colonnade.tableformat.rowset.block_statistics import Statistics
from colonnade.tableformat.rowset.column import StoredColumn
from colonnade.tableformat.rowset.encodings.encoding import BlockEntry
from colonnade.tableformat.rowset.read_back import Contents, check_kept
from colonnade.tableformat.rowset.write import output as rowset_output
from colonnade.tableformat.rowset.writer import RowSetWriter
from colonnade.tableformat.table.table import ArrowTable
from tests.compaction_tables import filled, jobs
from tests.log_samples import entry

KINDS: list[GroupKind] = ["rewrite", "merge", "zorder", "repartition"]

Change = Callable[[list[pa.Array]], list[pa.Array]]


def a_row_less(columns: list[pa.Array]) -> list[pa.Array]:
    return [column.slice(1) for column in columns]


def a_null_more(columns: list[pa.Array]) -> list[pa.Array]:
    rows = len(columns[1])
    changed = columns[1].take(pa.array([*range(rows - 1), None], pa.int64()))
    return [columns[0], changed, *columns[2:]]


def a_larger_value(columns: list[pa.Array]) -> list[pa.Array]:
    rows = len(columns[1])
    return [columns[0], pa.array([10**6] * rows, pa.int64()), *columns[2:]]


def names(table: ArrowTable) -> set[str]:
    return {each.name for each in table._location.store.list("")}


def run(table: ArrowTable, kind: GroupKind) -> None:
    if kind == "repartition":
        table.partition_by("bucket(2, id)")
    zorder = [1] if kind == "zorder" else []
    # Copied blocks would not pass through the writer that these tests change.
    _, [job] = jobs(table, kind, zorder, copied_rows=LIMITS.copied_rows)
    before = names(table)
    with pytest.raises(CorruptionError) as caught:
        run_job(job, table._location.store)
    assert names(table) == before, "what was written is removed"
    raise caught.value


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (a_row_less, r"\d+ rows were written instead of 90"),
        (a_null_more, "in column 'n', it has .* NULL .* are stated"),
        (a_larger_value, "in column 'n', it has values outside of the bounds"),
    ],
)
def test_a_compaction_that_changes_rows_is_given_up(
    kind: GroupKind, change: Change, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled(kind=kind)
    write = RowSetWriter.write_storage

    def changed(
        self: RowSetWriter, columns: Sequence[pa.Array], origins: Rows | None = None
    ) -> None:
        write(self, change([*columns]), origins)

    monkeypatch.setattr(RowSetWriter, "write_storage", changed)
    with pytest.raises(CorruptionError, match=problem):
        run(table, kind)


def damaging(array: pa.Array, column: StoredColumn) -> tuple[BlockEntry, tuple[pa.Buffer, ...]]:
    """A block whose bytes change on their way into the store."""
    entry, parts = encode_block(array, column)
    if not parts:
        return entry, ()
    wrong = bytearray(b"".join(parts))
    wrong[-9] ^= 4
    return entry, (pa.py_buffer(bytes(wrong)),)


@pytest.mark.parametrize("kind", KINDS)
def test_a_block_that_is_not_stored_as_it_was_encoded_is_found(
    kind: GroupKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = filled(kind=kind)
    monkeypatch.setattr(rowset_output, "encode_block", damaging)
    with pytest.raises(CorruptionError, match="do not match their checksum"):
        run(table, kind)


@pytest.mark.parametrize(
    ("nulls", "nans", "high", "is_right"),
    [
        (2, 1, 9.0, True),
        (7, 0, 3.0, True),
        (0, 1, 9.0, False),
        (2, 2, 9.0, False),
        (7, 0, 10.0, False),
    ],
)
def test_values_may_become_null_only_where_they_are_masked_and_no_value_may_change(
    nulls: int, nans: int, high: float, is_right: bool
) -> None:
    field = SchemaField(id=1, name="x", type="double")
    before, after = Contents(), Contents()
    one = entry().model_copy(update={"rows": 10})
    other = one.model_copy(update={"object": one.object[::-1]})
    before.add(one, {1: Statistics(low=1.0, high=9.0, nulls=2, nans=1)})
    after.add(other, {1: Statistics(low=1.0, high=high, nulls=nulls, nans=nans)})
    for masked in ((), (1,)):
        right = is_right and (bool(masked) or nulls == 2)
        with nullcontext() if right else pytest.raises(CorruptionError, match="column 'x'"):
            check_kept(before, after, 10, [field], "RowSet 0", masked)


def test_rows_that_were_deleted_may_take_the_largest_values_with_them() -> None:
    table = filled()
    table.delete("n > 50")
    _, [job] = jobs(table, "copy")
    left = sum(each.row_count for each in job.view.rowsets)
    assert sum(each.rows for each in run_job(job, table._location.store).outputs) == left


def test_replaced_columns_are_read_back(monkeypatch: pytest.MonkeyPatch) -> None:
    table = filled(1, 50_000)
    before, epoch = names(table), table.epoch
    monkeypatch.setattr(rowset_output, "encode_block", damaging)
    with pytest.raises(CorruptionError, match="do not match their checksum"):
        table.update({"n": 5}, "id < 49999")
    assert table.refresh().epoch == epoch
    assert data_of(names(table)) == data_of(before)


def data_of(found: set[str]) -> set[str]:
    return {name for name in found if not name.startswith("_manifest")}


def test_a_repair_is_read_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    table = filled(1, 140_000)
    [name] = data_of(names(table))
    whole = bytearray(table._location.store.get(name))
    whole[1000] ^= 4
    table._location.store.put(name, bytes(whole), sync=False)
    epoch = table.refresh().epoch
    monkeypatch.setattr(rowset_output, "encode_block", damaging)
    with pytest.raises(CorruptionError, match="do not match their checksum"):
        table.repair([0], rescue=tmp_path / "lost.parquet")
    assert table.refresh().epoch == epoch
