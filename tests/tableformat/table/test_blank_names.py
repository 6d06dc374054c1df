"""Columns whose names have blanks at either end work wherever a column is named."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import SetPartitioning, SetPrimaryKey, SetSortKey, col
from tests.cli.runner import run_command

NAMES = [" k", "k ", "  k  ", "\tk", "k desc", " k asc ", "a, b", "`k`"]


def rows(name: str) -> pa.Table:
    return pa.table(
        {name: [3, 1, 2], "k": [1, 1, 1]},
        pa.schema([pa.field(name, pa.int64(), False), ("k", pa.int64())]),
    )


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", ["", " asc", " desc"])
def test_such_a_column_can_be_in_a_sort_key(tmp_path: Path, name: str, suffix: str) -> None:
    data = rows(name)
    for form in (name, quoted(name)):
        table = colonnade.create(
            tmp_path / f"t{form == name}", data.schema, sort_key=[form + suffix]
        )
        table.append(data)
        wanted = [3, 2, 1] if suffix == " desc" else [1, 2, 3]
        assert table.scan([name], order="key").to_arrow()[name].to_pylist() == wanted


@pytest.mark.parametrize("name", [*NAMES, "k", "days(k)", "5, k", "k, 5"])
@pytest.mark.parametrize("transform", ["{}", "bucket(4, {})", "days({})"])
def test_a_table_shows_its_partitions_as_another_one_takes_them(
    tmp_path: Path, name: str, transform: str
) -> None:
    schema = pa.schema([(each, pa.date32()) for each in {name, "k", "5", "a"}])
    by = transform.format(quoted(name))
    shown = colonnade.create(tmp_path / "t", schema, partition_by=[by])
    again = colonnade.create(tmp_path / "u", shown.schema, partition_by=shown.partitioning)
    assert again._state.partition_fields == shown._state.partition_fields
    assert colonnade.open(tmp_path / "t").partitioning == again.partitioning


@pytest.mark.parametrize("name", NAMES)
def test_such_a_column_can_be_named_everywhere(tmp_path: Path, name: str) -> None:
    data = rows(name)
    table = colonnade.create(tmp_path / "t", data.schema)
    table.append(data)
    table.alter(SetPartitioning((f"bucket(4, {quoted(name)})",)))
    table.optimize().executeZOrderBy([name, "k"])
    table.alter(SetSortKey((quoted(name),)), SetPrimaryKey(name))
    table.upsert(data)
    assert table.scan([name], f"{quoted(name)} = 2").to_arrow()[name].to_pylist() == [2]
    assert table.scan([name], col(quoted(name)) == 2).to_arrow()[name].to_pylist() == [2]
    table.delete(f"{quoted(name)} = 3")
    assert sorted(table.scan().to_arrow()[name].to_pylist()) == [1, 2]
    ran = run_command("head", tmp_path / "t", "--columns", quoted(name), "--json")
    assert [*ran.json[0]] == [name]
