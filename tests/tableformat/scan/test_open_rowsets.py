"""A scan behind a network opens RowSets while it looks for newer epochs."""

from __future__ import annotations

import pyarrow as pa
import pytest

from colonnade import ArrowTable, col
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.schema import assign_ids
from colonnade.manifests.store import MemoryStore
from colonnade.tableformat.rowset import reader as rowset_reader
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.scan import open_rowsets
from colonnade.tableformat.types.arrow_types import schema_from_arrow
from tests.compaction_tables import another, new
from tests.far_store import FarStore

NAMES = [f"c{i}" for i in range(8)]
ROWS = 100_000


def rows(first: int, count: int = ROWS) -> pa.Table:
    numbers = {name: pa.array([*range(first, first + count)]) for name in NAMES}
    return pa.table(numbers)


@pytest.fixture
def writer() -> ArrowTable:
    """A table of one large RowSet, which another process writes."""
    inner = MemoryStore()
    inner.files_are_cheap = False
    table = new(assign_ids(schema_from_arrow(rows(0, 1).schema), 1)[0], store=inner)
    table.append(rows(0))
    return table


@pytest.fixture
def store(writer: ArrowTable) -> FarStore:
    return FarStore(writer._log.store)


@pytest.fixture
def reader(writer: ArrowTable, store: FarStore) -> ArrowTable:
    """The same table behind a network, opened a moment ago."""
    log = Log(store)
    location = writer._location
    return ArrowTable(
        type(location)(store, location.table, exists=True), log, log.reader.read_head()
    )


@pytest.mark.parametrize(
    ("columns", "rounds", "unneeded"),
    [(NAMES[:2], 2, 1000), (NAMES[:2], 1, None), (NAMES[:6], 1, 1000), (None, 1, 1000)],
)
def test_a_scan_of_an_open_table_takes_at_most_two_rounds(
    reader: ArrowTable,
    store: FarStore,
    columns: list[str] | None,
    rounds: int,
    unneeded: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if unneeded is not None:
        monkeypatch.setattr(open_rowsets, "_UNNEEDED_BYTES", unneeded)
    with store.counted() as cost:
        found = reader.scan(columns).to_arrow()
    assert found.equals(rows(0).select(columns or NAMES))
    assert cost.rounds == rounds
    assert cost.requests == 1 + rounds


def test_a_scan_with_a_condition_reads_no_whole_rowset(reader: ArrowTable, store: FarStore) -> None:
    with store.counted() as cost:
        assert reader.scan(where=col("c0") < 5).to_arrow().equals(rows(0, 5))
    assert cost.rounds == 2


@pytest.mark.slow
def test_later_reads_of_a_scan_open_its_rowsets_again(reader: ArrowTable, store: FarStore) -> None:
    scan = reader.scan()
    for _ in range(3):
        assert scan.to_arrow().equals(rows(0))
    assert pa.Table.from_batches([*scan.to_batches()]).equals(rows(0))


@pytest.mark.slow
def test_a_change_of_a_concurrent_writer_is_read_as_of_the_new_epoch(
    reader: ArrowTable, writer: ArrowTable
) -> None:
    changed = another(writer)
    changed.delete(col("c0") < 10)
    assert reader.scan().to_arrow().equals(rows(10, ROWS - 10))
    changed.append(rows(ROWS))
    assert reader.scan().to_arrow().equals(rows(10, 2 * ROWS - 10))
    changed.optimize().option("min-rowsets", 2).executeCompaction()
    assert reader.scan(["c1"]).to_arrow().equals(rows(10, 2 * ROWS - 10).select(["c1"]))
    changed.overwrite(rows(5, 20))
    changed.vacuum(0, retain_epochs=1, force=True, trust_clock=True)
    assert reader.scan().to_arrow().equals(rows(5, 20))


def test_a_column_that_was_added_meanwhile_is_read(reader: ArrowTable, writer: ArrowTable) -> None:
    more = rows(ROWS, 10).append_column("more", pa.array([7] * 10))
    another(writer).append(more, evolve=True)
    found = reader.scan(["more"]).to_arrow()
    assert (found.num_rows, found["more"].null_count) == (ROWS + 10, ROWS)


def test_names_of_columns_may_come_from_an_iterator(reader: ArrowTable) -> None:
    assert reader.scan(iter(["c1"])).to_arrow().equals(rows(0).select(["c1"]))  # type: ignore[arg-type]


def test_bad_input_is_refused_as_on_a_local_disk(reader: ArrowTable) -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        reader.scan(["nothing"])
    with pytest.raises(InvalidInputError, match="nothing"):
        reader.scan(where=col("nothing") > 1)


def test_few_bytes_are_read_before_the_plan_is_known(
    reader: ArrowTable, store: FarStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_rowsets, "_WHOLE_BYTES", 1000)
    with store.counted() as cost:
        assert reader.scan().to_arrow().equals(rows(0))
    assert cost.rounds == 2


@pytest.mark.slow
def test_rowsets_beyond_the_first_are_opened_when_they_are_used(
    writer: ArrowTable, store: FarStore, reader: ArrowTable
) -> None:
    for number in range(1, 20):
        writer.append(rows(number * ROWS, 1000))
    reader.refresh()
    wanted = reader.scan(["c3"]).to_arrow()
    assert sorted(wanted["c3"].to_pylist())[-1] == 19 * ROWS + 999
    assert wanted.num_rows == ROWS + 19_000


def test_a_scan_without_columns_reads_no_whole_rowset(
    reader: ArrowTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def note(*args: object, whole: bool) -> RowSetReader:
        asked.append(whole)
        return RowSetReader(*args, whole=whole)  # type: ignore[arg-type]

    monkeypatch.setattr(rowset_reader, "RowSetReader", note)
    assert reader.scan([]).to_arrow().num_rows == ROWS
    assert reader.scan(["c0"]).to_arrow().num_rows == ROWS
    assert asked == [False, True]
