"""A scan is a dataset of pyarrow, from which each engine gets the rows that it would choose."""

from __future__ import annotations

import inspect
import pickle
import random
from collections.abc import Callable
from functools import reduce
from operator import or_
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as pads
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import acero

import colonnade
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.tableformat.engines import dataset as datasets
from colonnade.tableformat.engines.dataset import DatasetScanner, ScanDataset, ScanFragment
from tests.tableformat.engines.rows import (
    parquet_of,
    random_condition,
    random_expression,
    random_rows,
    table_of,
)

NUMBERS = pa.table({"n": range(100), "s": [f"text {n}" for n in range(100)]})


@pytest.fixture
def numbers(tmp_path: Path) -> colonnade.ArrowTable:
    return colonnade.create(tmp_path / "numbers", NUMBERS.slice(0, 60), data=None)


@pytest.fixture
def data(numbers: colonnade.ArrowTable) -> ScanDataset:
    numbers.append(NUMBERS.slice(60))
    return numbers.dataset()


def chosen(rows: pa.Table) -> list[int]:
    return sorted(rows["k"].to_pylist())


@pytest.mark.parametrize("kind", [pads.Dataset, pads.UnionDataset, pads.Fragment, pads.Scanner])
def test_python_reaches_no_method_that_would_ask_a_dataset_of_cpp(kind: type) -> None:
    own = {
        pads.Dataset: ScanDataset,
        pads.UnionDataset: ScanDataset,
        pads.Fragment: ScanFragment,
        pads.Scanner: DatasetScanner,
    }
    names = {name for name in dir(kind) if not name.startswith("_")}
    made = {name for name in names if isinstance(inspect.getattr_static(kind, name), staticmethod)}
    there = {
        name
        for each in own[kind].__mro__
        if each.__module__ == datasets.__name__
        for name in vars(each)
    }
    assert names - made - there == set()


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_duckdb_finds_the_rows_that_it_finds_in_parquet(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    order = random.Random(seed)
    rows = random_rows(order)
    path = parquet_of(rows, tmp_path_factory.mktemp("rows"))
    data = table_of(rows, order).dataset()
    with duckdb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        db.register("data", data)
        for _ in range(20):
            test = random_condition(order)
            query = "SELECT k, n FROM {} WHERE " + test + " ORDER BY k"
            found = db.execute(query.format("data")).fetchall()
            assert found == db.execute(query.format(f"'{path}'")).fetchall(), test


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_polars_finds_the_rows_that_it_finds_in_parquet(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    order = random.Random(seed)
    rows = random_rows(order)
    parquet = polars.scan_parquet(parquet_of(rows, tmp_path_factory.mktemp("rows")))
    data = polars.scan_pyarrow_dataset(table_of(rows, order).dataset())
    for _ in range(20):
        test = random_expression(order)
        found, wanted = (each.filter(test).select("k").collect() for each in (data, parquet))
        assert sorted(found["k"]) == sorted(wanted["k"]), test


def test_a_filter_reads_columns_that_the_result_does_not_have(data: ScanDataset) -> None:
    plain = data.to_table(["s"], pc.field("n") == 7)
    assert plain.to_pydict() == {"s": ["text 7"]}
    computed = data.to_table(["s"], pc.field("n") * 2 == 14)
    assert computed.to_pydict() == {"s": ["text 7"]}
    assert data.to_table([], pc.field("n") * 2 < 14).num_rows == 7
    assert data.count_rows(pc.field("n") * 2 < 14) == 7
    assert data.count_rows(pc.field("n") < 14) == 14
    assert data.count_rows() == 100


def test_columns_are_names_in_any_order_or_expressions(data: ScanDataset) -> None:
    assert data.scanner(["s", "n"]).projected_schema.names == ["s", "n"]
    assert data.to_table(["s", "n", "s"]).schema.names == ["s", "n", "s"]
    doubled = {"m": pc.field("n") * 2}
    scanner = data.scanner(doubled, pc.field("n") > 97)
    assert scanner.projected_schema == pa.schema([("m", pa.int64())])
    assert scanner.to_table().to_pydict() == {"m": [196, 198]}
    with pytest.raises(NotFoundError, match="'x'"):
        data.scanner(["x"])


def test_rows_come_first_by_number_and_in_batches(data: ScanDataset) -> None:
    assert data.head(3)["n"].to_pylist() == [0, 1, 2]
    assert data.head(3, filter=pc.field("n") * 2 > 100)["n"].to_pylist() == [51, 52, 53]
    assert data.head(1000).num_rows == 100
    assert data.take([99, 0, 61, 0])["n"].to_pylist() == [99, 0, 61, 0]
    assert data.take([]).num_rows == 0
    with pytest.raises(IndexError, match="no row 100: the scan has 100 rows"):
        data.take([1, 100])
    assert [each.num_rows for each in data.to_batches(batch_size=25)] == [25, 25, 10, 25, 15]
    tagged = [each.record_batch.num_rows for each in data.scanner().scan_batches()]
    assert tagged == [60, 40]
    assert data.scanner(["n"]).to_reader().read_all().equals(NUMBERS.select(["n"]))


def test_each_rowset_is_a_fragment_that_another_process_can_read(data: ScanDataset) -> None:
    fragments = [*data.get_fragments()]
    assert [each.count_rows() for each in fragments] == [60, 40]
    assert [each.count_rows(pc.field("n") > 50) for each in fragments] == [9, 40]
    assert [each.count_rows() for each in data.get_fragments(pc.field("n") > 70)] == [29]
    again = pickle.loads(pickle.dumps(fragments))
    assert [each.to_table(columns=["n"]).num_rows for each in again] == [60, 40]
    assert again[1].head(2)["n"].to_pylist() == [60, 61]
    assert again[1].physical_schema == data.schema
    assert again[1].scanner(data.schema, ["s"]).to_table().num_columns == 1
    assert again[1].partition_expression.equals(pc.scalar(True))
    filtered = data.filter(pc.field("n") * 2 > 100)
    assert [each.count_rows() for each in filtered.get_fragments()] == [9, 40]


def test_a_dataset_stays_at_its_epoch_also_after_it_was_pickled(
    data: ScanDataset, numbers: colonnade.ArrowTable
) -> None:
    kept = pickle.dumps(data.filter(pc.field("n") > 10))
    numbers.delete("n >= 50")
    assert data.count_rows() == 100
    assert pickle.loads(kept).count_rows() == 89
    assert numbers.dataset(epoch=1).count_rows() == 60
    assert numbers.dataset(["s"], "n < 10").to_table().schema.names == ["s"]
    assert numbers.dataset().count_rows() == 50


def test_filters_of_a_dataset_add_up(data: ScanDataset) -> None:
    some = data.filter(pc.field("n") > 10).filter(pc.field("n") * 2 < 40)
    assert some.count_rows() == 9
    assert some.count_rows(pc.field("n") == 15) == 1
    assert some.to_table(["s"]).num_rows == 9


def test_a_scan_with_a_limit_chooses_among_its_first_rows(
    data: ScanDataset, numbers: colonnade.ArrowTable
) -> None:
    first = numbers.limit(10).dataset()
    assert first.count_rows(pc.field("n") > 5) == 4
    assert first.filter(pc.field("n") > 50).count_rows() == 0
    assert len([*first.get_fragments()]) == 1


def test_arrow_sorts_joins_and_writes_a_dataset(data: ScanDataset, tmp_path: Path) -> None:
    assert data.sort_by([("n", "descending")]).head(1)["n"].to_pylist() == [99]
    assert data.join(data, "n", right_suffix="_2").count_rows() == 100
    times: Any = data.to_table(["n"]).append_column("v", pa.array(range(100)))
    right = pads.dataset(times.append_column("s", NUMBERS["s"]))
    assert data.join_asof(right, on="n", by="s", tolerance=0).to_table()["v"].to_pylist()[-1] == 99
    pads.write_dataset(data, tmp_path / "out", format="parquet")
    assert pads.dataset(tmp_path / "out").count_rows() == 100


@pytest.mark.parametrize(
    "read",
    [
        lambda data: pads.Scanner.from_dataset(data).to_table(),
        lambda data: pads.Scanner.from_dataset(data).count_rows(),
        lambda data: NUMBERS.join(data, "n", right_suffix="_2"),
        lambda data: pads.UnionDataset(data.schema, [data]).to_table(),
        lambda data: acero.Declaration("scan", acero.ScanNodeOptions(data)).to_table(),
    ],
)
def test_code_of_cpp_that_reads_a_dataset_is_told_what_to_do(
    data: ScanDataset, read: Callable[[Any], object]
) -> None:
    """It once ended the process."""
    with pytest.raises(InvalidInputError, match="give it the rows, by to_table or scanner"):
        read(data)


def test_code_of_cpp_refuses_a_fragment_and_takes_the_rows_of_a_scanner(
    data: ScanDataset, tmp_path: Path
) -> None:
    """It once ended the process."""
    fragment: Any = next(data.get_fragments())
    with pytest.raises(TypeError):
        pads.Scanner.from_fragment(fragment, schema=data.schema)
    scanner: Any = data.scanner()
    pads.write_dataset(scanner, tmp_path / "out", format="parquet")
    assert pads.dataset(tmp_path / "out").count_rows() == 100
    assert duckdb.sql("SELECT count(*) FROM scanner").fetchone() == (100,)
    assert polars.DataFrame(scanner).height == 100


def test_another_schema_is_refused(data: ScanDataset) -> None:
    with pytest.raises(InvalidInputError, match="schema_epoch"):
        data.replace_schema(pa.schema([("n", pa.int32())]))


@pytest.mark.parametrize(
    "rows_of",
    [
        lambda table: table.dataset(),
        lambda table: table.dataset().scanner(batch_size=3),
        lambda table: table.dataset().scanner({"k": pc.field("k"), "s": pc.field("s")}),
        lambda table: table.scan(),
        lambda table: table.scan(order="key"),
        lambda table: table.scan().limit(100),
        lambda table: table.to_arrow(),
        lambda table: table.changes(1),
        lambda table: table.changes(1).to_arrow(),
    ],
)
def test_duckdb_reads_structs_in_structs_beside_deleted_rows(
    tmp_path: Path, rows_of: Callable[[colonnade.ArrowTable], Any]
) -> None:
    """DuckDB 1.5 reads a struct in a struct from other rows if an array is a slice."""

    def texts(first: int) -> list[dict[str, Any]]:
        return [{"text": f"text {n}"} for n in range(first)]

    inner = [{"in": {"n": n, "all": texts(n % 3)}, "list": [{"in": {"n": n}}]} for n in range(30)]
    rows = pa.table({"k": range(30), "s": pa.array([*inner[:-1], None])})
    table = colonnade.create(tmp_path / "nested", rows.schema, sort_key=["k"])
    table.append(rows.take([n for n in range(30) if n % 2]))
    table.append(rows.take([n for n in range(30) if not n % 2]))
    table.append(rows)
    table.delete("k < 4")
    data = rows_of(table)  # noqa: F841  # DuckDB finds it by its name
    query = "SELECT k, s FROM data ORDER BY k, s IS NULL"
    found = [(k, s) for k, s in duckdb.sql(query).fetchall() if k > 3]
    wanted = [(n, inner[n] if n < 29 else None) for n in range(4, 30)]
    assert found[::2] == found[1::2] == wanted


def test_a_damaged_block_ends_the_query_and_names_the_column(
    numbers: colonnade.ArrowTable, tmp_path: Path
) -> None:
    numbers.append(pa.table({"n": range(100_000), "s": ["x" * 20] * 100_000}))
    data = numbers.dataset()  # noqa: F841  # DuckDB finds it by its name
    for file in (tmp_path / "numbers").rglob("*"):
        if file.is_file() and file.stat().st_size > 10_000:
            stored = bytearray(file.read_bytes())
            stored[5_000:-5_000] = bytes(len(stored) - 10_000)
            file.write_bytes(stored)
    with pytest.raises(duckdb.Error, match="Column '[ns]' .* is damaged"):
        duckdb.sql("SELECT sum(n), min(s) FROM data").fetchall()


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda data: data.to_table(batch_size=-1), "batch_size must be .* from 1, not -1"),
        (lambda data: [*data.to_batches(batch_size=0)], "batch_size must be .* from 1, not 0"),
        (lambda data: data.scanner(batch_size="a"), "batch_size must be .* not 'a'"),
        (lambda data: data.head(-1), "num_rows must be a whole number of rows from 0, not -1"),
        (lambda data: data.head(None), "num_rows must be .* not None"),
        (lambda data: data.head(1.5), "num_rows must be .* not 1.5"),
        (lambda data: data.take([1.5]), "by whole numbers, not by \\[1.5\\]"),
        (lambda data: data.take([None]), "by whole numbers"),
        (lambda data: data.take([True]), "by whole numbers"),
        (lambda data: data.take(5), "by whole numbers, not by 5"),
        (lambda data: data.take([2**70]), "by whole numbers"),
        (lambda data: data.to_table("n"), "columns must be a list of column names, not 'n'"),
        (lambda data: data.to_table([pc.field("n")]), "columns must be a list"),
        (lambda data: data.to_table(filter="n = 1"), "must be a pyarrow.compute.Expression, not"),
        (lambda data: data.filter(5), "must be a pyarrow.compute.Expression, not 5"),
        (lambda data: data.count_rows(True), "must be a pyarrow.compute.Expression, not True"),
        (lambda data: [*data.get_fragments("n = 1")], "must be a pyarrow.compute.Expression"),
    ],
)
def test_a_wrong_argument_is_named(data: ScanDataset, read: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        read(data)


def test_numbers_of_rows_may_be_those_of_numpy_and_of_any_size(data: ScanDataset) -> None:
    three: Any = np.int64(3)
    assert data.head(three).num_rows == 3
    assert data.head(2**70).num_rows == 100
    assert len([*data.to_batches(batch_size=2**70)]) == 2
    assert data.take(np.array([5, 1], np.uint8))["n"].to_pylist() == [5, 1]
    assert data.take(pa.chunked_array([[0], [61]]))["n"].to_pylist() == [0, 61]
    assert data.take(n for n in (3, 3))["n"].to_pylist() == [3, 3]
    with pytest.raises(IndexError, match="There is no row -1"):
        data.take([0, -1])


@pytest.mark.slow
def test_a_query_of_a_thousand_conditions_finds_their_rows(data: ScanDataset) -> None:
    words = " OR ".join(f"(n > {n} AND length(s) < {n})" for n in range(1000))
    query = f"SELECT count(*) FROM data WHERE {words}"
    assert duckdb.sql(query).fetchone() == duckdb.sql(query.replace("data", "NUMBERS")).fetchone()
    chain = reduce(or_, [pc.field("n") == n for n in range(50, 3000)])
    assert data.count_rows(chain) == 50
    assert data.count_rows(reduce(or_, [pc.field("n") + 1 == n for n in range(3000)])) == 100
