"""An index of pandas without a name is never data; one with a name is a column."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import colonnade
from tests.cli.runner import run_command

Change = Callable[[pd.DataFrame], pd.DataFrame]
PAIRS = pd.MultiIndex.from_tuples([(n, -n) for n in range(6)])
CHANGES: dict[str, Change] = {
    "none": lambda frame: frame,
    "filtered": lambda frame: frame[frame.k > 2],
    "sorted": lambda frame: frame.sort_values("k", ascending=False),
    "sampled": lambda frame: frame.sample(frac=0.5, random_state=1),
    "concatenated": lambda frame: pd.concat([frame.iloc[:2], frame.iloc[4:]]),
    "two levels": lambda frame: frame.set_index(PAIRS),
    "no rows": lambda frame: frame[frame.k > 99],
}
FORMS: dict[str, Callable[[pd.DataFrame], object]] = {
    "frame": lambda frame: frame,
    "table": pa.Table.from_pandas,
    "batch": pa.RecordBatch.from_pandas,
    "reader": lambda frame: pa.Table.from_pandas(frame).to_reader(),
}


def frame() -> pd.DataFrame:
    return pd.DataFrame({"k": range(6), "v": list("abcdef")})


def rows_of(table: colonnade.ArrowTable) -> list[dict[str, object]]:
    return table.scan().to_arrow().sort_by("k").to_pylist()


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("form", FORMS)
def test_an_index_without_a_name_is_written_by_no_statement(
    tmp_path: Path, change: str, form: str
) -> None:
    given = CHANGES[change](frame())
    wanted = given.reset_index(drop=True).sort_values("k").to_dict("records")
    schema = pa.Schema.from_pandas(given)
    table = colonnade.create(tmp_path / "t", schema)
    table.append(FORMS[form](given))
    assert rows_of(table) == wanted
    table.append(FORMS[form](given), evolve=True)
    table.overwrite(FORMS[form](given))
    assert (table.schema.names, rows_of(table)) == (["k", "v"], wanted)
    keyed = colonnade.create(
        tmp_path / "keyed",
        pa.schema([pa.field("k", pa.int64(), False), ("v", pa.string())]),
        primary_key=["k"],
    )
    keyed.upsert(FORMS[form](given))
    assert rows_of(keyed) == wanted


@pytest.mark.parametrize("change", ["filtered", "none"])
def test_an_index_with_a_name_is_a_column(tmp_path: Path, change: str) -> None:
    given = CHANGES[change](frame()).rename_axis("place")
    table = colonnade.create(
        tmp_path / "t", pa.schema({"k": pa.int64(), "v": pa.string(), "place": pa.int64()})
    )
    table.append(given)
    assert rows_of(table) == given.reset_index()[["k", "v", "place"]].to_dict("records")


def test_one_of_two_levels_with_a_name_is_a_column(tmp_path: Path) -> None:
    given = frame().set_index(PAIRS.set_names(["place", None]))
    table = colonnade.create(tmp_path / "t", pa.schema({"k": pa.int64(), "v": pa.string()}))
    table.append(given, evolve=True)
    assert table.schema.names == ["k", "v", "place"]


def test_an_index_with_the_name_of_a_column_is_refused(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema({"k": pa.int64(), "v": pa.string()}))
    with pytest.raises(colonnade.InvalidInputError, match="index 'k' has the name of a column"):
        table.append(frame().set_index("k", drop=False))


def test_a_column_that_only_has_such_a_name_is_data(tmp_path: Path) -> None:
    table = colonnade.create(tmp_path / "t", pa.schema({"__index_level_0__": pa.int64()}))
    table.append(pd.DataFrame({"__index_level_0__": [1]}))
    strange = pa.schema({"__index_level_0__": pa.int64()}, {"pandas": b"no JSON"})
    table.append(pa.table({"__index_level_0__": [2]}, strange))
    assert table.scan().to_arrow().num_rows == 2


def test_an_import_of_a_file_of_pandas_leaves_such_an_index_out(tmp_path: Path) -> None:
    CHANGES["filtered"](frame()).to_parquet(tmp_path / "a.parquet")
    frame().to_parquet(tmp_path / "b.parquet")
    ran = run_command("import", tmp_path / "t", tmp_path / "a.parquet", tmp_path / "b.parquet")
    assert ran.code == 0, ran.err
    assert colonnade.open(tmp_path / "t").schema.names == ["k", "v"]
