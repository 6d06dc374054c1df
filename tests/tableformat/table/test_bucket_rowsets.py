"""RowSets in a bucket are one object each: what they cost in requests, and every change of them."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from colonnade import ArrowTable, col
from colonnade.manifests.errors import StoreError
from colonnade.manifests.store import LocalStore, ObjectStore, open_store
from colonnade.manifests.store.address import StoreAddress
from colonnade.tableformat.types.input.column_types import as_table_schema
from tests.compaction_tables import live, new
from tests.large_changes import append, chosen_steps, content, seeds
from tests.large_tables import TableMaker, same_rows
from tests.setup.http_proxy import Proxy
from tests.setup.minio import Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server
ROWS = 100_000
COLUMNS = 50


@pytest.fixture(scope="module")
def proxy(minio: Minio) -> Iterator[Proxy]:
    made = Proxy(minio.port)
    yield made
    made.stop()


@pytest.fixture
def store(minio: Minio, proxy: Proxy) -> ObjectStore:
    options = minio.options(endpoint_url=proxy.url)
    return open_store(StoreAddress.of(f"s3://{minio.new_bucket()}/lake", options))


def wide_rows(count: int = ROWS) -> pa.Table:
    rng = np.random.default_rng(3)
    columns = {f"c{i}": rng.integers(0, 2**15, count) for i in range(COLUMNS - 1)}
    return pa.table({"id": np.arange(count), **columns})


def methods(proxy: Proxy) -> dict[str, int]:
    """How often each method was used, except for looks at the log."""
    looks = [seen for seen in proxy.seen if seen.method == "GET" and "/_manifest/" in seen.path]
    found = Counter(seen.method for seen in proxy.seen)
    found["GET"] -= len(looks)
    return dict(+found)


def objects(table: ArrowTable) -> set[str]:
    found = {each.name for each in table._location.store.list(table._state.prefix)}
    return {name for name in found if not name.startswith("_manifest/")}


@pytest.mark.slow
def test_a_rowset_costs_one_put_and_its_parts(store: ObjectStore, proxy: Proxy) -> None:
    rows = wide_rows()
    table = new(as_table_schema(rows.schema), store=store)
    before = objects(table)
    proxy.seen.clear()
    table.append(rows.slice(0, 30_000))
    assert methods(proxy) == {"PUT": 2}
    [small] = objects(table) - before
    proxy.seen.clear()
    table.append(rows)
    parts = -(-live(table)[-1].entry.bytes // (5 << 20))
    assert parts > 1
    assert methods(proxy) == {"PUT": parts + 1, "POST": 2}
    assert len(objects(table) - before - {small}) == 1


@pytest.mark.parametrize("columns", [["c3"], ["id", "c20", "c40", "c48"]])
def test_a_scan_of_k_columns_costs_k_requests_and_one(
    store: ObjectStore, proxy: Proxy, columns: list[str]
) -> None:
    rows = wide_rows()
    table = new(as_table_schema(rows.schema), store=store)
    table.append(rows)
    proxy.seen.clear()
    assert table.scan(columns=columns).to_arrow().equals(rows.select(columns))
    found = methods(proxy)
    assert found.pop("GET") <= len(columns) + 1
    assert not found


def test_a_delete_of_a_hundredth_costs_its_reads_and_one_put(
    store: ObjectStore, proxy: Proxy
) -> None:
    rows = wide_rows()
    table = new(as_table_schema(rows.schema), store=store)
    table.append(rows)
    proxy.seen.clear()
    assert table.delete(col("id") < ROWS // 100).rows_deleted == ROWS // 100
    found = methods(proxy)
    assert found.pop("GET") <= 3
    assert found == {"PUT": 1}


def test_a_full_disk_ends_a_write_and_leaves_nothing(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = wide_rows()
    table = new(as_table_schema(rows.schema), store=store)
    before = objects(table)
    full = open("/dev/full", "r+b", buffering=0)  # noqa: SIM115
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **options: full)
    with pytest.raises(StoreError, match="No space left.*TMPDIR"):
        table.append(rows)
    assert objects(table) == before
    assert list(store.list_unfinished()) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(2, 12))
def test_nested_rows_survive_every_change_of_either_form(
    seed: int, store: ObjectStore, tmp_path: Path
) -> None:
    maker = TableMaker(4000 + seed)
    schema = maker.schema(columns=3)
    rows = maker.rows(schema, 66_000 if seed < 2 else 300_000)
    store = LocalStore(str(tmp_path / "db")) if seed % 2 else store
    assert store.files_are_cheap == bool(seed % 2)
    table = new(schema, ["id"] if seed % 3 == 0 else (), store)
    append(table, rows, maker, parts=2)
    for step, change in chosen_steps(seed, sort_key=seed % 3 == 0):
        rows = change(table, rows, tmp_path)
        assert same_rows(content(table), rows), step
    assert not table.verify(4).findings
    assert any(each.name.endswith("/rowset.json") for each in store.list("")) <= bool(seed % 2)
