"""A lazy frame of a scan gives Polars the rows that Polars would choose, and reads no others."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import polars
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import colonnade
from colonnade.tableformat.engines.polars_frame import lazy_frame_of
from tests.tableformat.engines.rows import (
    parquet_of,
    random_expression,
    random_rows,
    table_of,
)


@pytest.fixture
def numbers(tmp_path: Path) -> colonnade.ArrowTable:
    rows = {"n": range(100), "s": [f"text {n}" for n in range(100)]}
    return colonnade.create(tmp_path / "numbers", pa.table(rows))


def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """The columns and conditions of all scans that are read from now on."""
    found: list[tuple[list[str], str]] = []
    read = colonnade.Scan.to_batches

    def noted(scan: colonnade.Scan, threads: int | None = 1) -> Any:
        found.append((scan.columns, repr(scan).partition("where=")[2]))
        return read(scan, threads)

    monkeypatch.setattr(colonnade.Scan, "to_batches", noted)
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_polars_finds_the_rows_that_it_finds_in_parquet(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    order = random.Random(seed)
    rows = random_rows(order)
    parquet = polars.scan_parquet(parquet_of(rows, tmp_path_factory.mktemp("rows")))
    lazy = lazy_frame_of(table_of(rows, order).scan())
    for _ in range(20):
        test = random_expression(order)
        engine: Any = order.choice(("in-memory", "streaming"))
        found, wanted = (
            each.filter(test).select("k").collect(engine=engine) for each in (lazy, parquet)
        )
        assert sorted(found["k"]) == sorted(wanted["k"]), test


def test_a_query_hands_over_its_columns_and_conditions(
    numbers: colonnade.ArrowTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    lazy, seen = numbers.to_polars(lazy=True), asked(monkeypatch)
    test = (polars.col("n") > 97) & (polars.col("s").str.len_chars() > 1)
    assert lazy.filter(test).select("s").collect()["s"].to_list() == ["text 98", "text 99"]
    assert seen.pop() == (["n", "s"], "'n > 97')")
    assert lazy.select("n").collect().height == 100
    assert seen.pop() == (["n"], "")


def test_a_limit_counts_rows_before_a_later_filter(numbers: colonnade.ArrowTable) -> None:
    lazy = numbers.to_polars(lazy=True)
    assert lazy.head(5).filter(polars.col("n") > 2).collect()["n"].to_list() == [3, 4]
    assert lazy.filter(polars.col("n") > 2).head(2).collect()["n"].to_list() == [3, 4]
    assert lazy.head(3).collect().height == 3
    assert lazy.select(polars.len()).collect().item() == 100
    limited = numbers.scan().limit(10).to_polars(lazy=True)
    assert limited.filter(polars.col("n") > 5).collect().height == 4


def test_a_frame_stays_at_its_epoch(numbers: colonnade.ArrowTable) -> None:
    lazy = numbers.to_polars(lazy=True)
    numbers.delete("n >= 10")
    assert lazy.collect().height == 100
    newest = colonnade.scan_polars(numbers.path, ["n"], "n > 5")
    assert newest.collect().to_dict(as_series=False) == {"n": [6, 7, 8, 9]}
    assert colonnade.scan_polars(numbers.path, epoch=1).collect().height == 100


def test_frames_have_at_most_the_rows_that_polars_asks_for(numbers: colonnade.ArrowTable) -> None:
    lazy = numbers.to_polars(lazy=True)
    heights = [each.height for each in lazy.collect_batches(chunk_size=30)]
    assert sum(heights) == 100
    assert max(heights) <= 100
