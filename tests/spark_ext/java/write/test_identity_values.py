"""The jar gives new rows values of identity columns just as Python does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.entries import RowSetEntry, SortField
from colonnade.manifests.model.schema import IdentityColumn, SchemaField, TableSchema
from colonnade.manifests.state.snapshot import as_written
from colonnade.manifests.state.view import View
from colonnade.manifests.store import LocalStore
from colonnade.tableformat.rowset.reader import RowSetReader
from colonnade.tableformat.statements.task_reports import decode_report
from colonnade.tableformat.write.identity import OwnDraws, identified
from tests.log_samples import table_state
from tests.spark_ext.java.write_tool import PREFIX, WriteTool, entries_of


def table(
    kind: str = "long", start: int = 1, step: int = 1, *, always: bool = False
) -> TableSchema:
    spec = IdentityColumn(start=start, step=step, always=always)
    return TableSchema(
        fields=(
            SchemaField(id=1, name="id", type=kind, nullable=False, identity=spec),
            SchemaField(id=2, name="v", type="int"),
        )
    )


def batch(ids: Sequence[int | None], kind: pa.DataType | None = None) -> pa.RecordBatch:
    columns = [pa.array(ids, kind or pa.int64()), pa.array(range(len(ids)), pa.int32())]
    return pa.RecordBatch.from_arrays(columns, ["id", "v"])


def written(folder: Path, schema: TableSchema, entries: Sequence[RowSetEntry]) -> dict[int, int]:
    """The values of the column by that of the other one."""
    found: dict[int, int] = {}
    for entry in entries:
        reader = RowSetReader(LocalStore(folder), View.written(PREFIX), as_written(entry))
        for _, rows in reader.read(schema.fields):
            ids, others = (each.to_pylist() for each in rows.columns)
            found.update(zip(others, ids, strict=True))
    return found


@settings(max_examples=20, deadline=None)
@given(
    st.integers(-9, 9),
    st.sampled_from((-4, -1, 1, 3)),
    st.lists(st.none() | st.integers(-30, 30), min_size=1, max_size=12),
    st.sampled_from(("int", "long")),
    st.booleans(),
)
def test_a_task_gives_each_new_row_a_value_that_no_other_row_has(
    writer: WriteTool,
    folders_of_values: list[Path],
    start: int,
    step: int,
    ids: list[int | None],
    kind: str,
    unsafe: bool,
) -> None:
    [folder] = folders_of_values
    schema = table(kind, start, step)
    arrow = {"int": pa.int32(), "long": pa.int64()}[kind]
    answer = writer.answer(
        folder, schema, batch(ids, arrow), unsafe=unsafe, numbers={"next": start, "step": step}
    )
    values = written(folder, schema, entries_of(answer))
    assert len(values) == len(ids)
    wishes = [each for each in ids if each is not None]
    ahead = max if step > 0 else min
    assert answer["brought"] == (str(ahead(wishes)) if wishes else None)
    assert answer["asked"] == ids.count(None)
    assert [values[at] for at, wish in enumerate(ids) if wish is not None] == wishes
    fresh = [values[at] for at, wish in enumerate(ids) if wish is None]
    assert fresh == sorted(set(fresh), reverse=step < 0)
    assert all((value - start) % step == 0 for value in fresh)
    assert set(fresh).isdisjoint(wishes)
    if not any((wish - start) * step >= 0 for wish in wishes):
        [expected] = identified([batch(ids, arrow)], "t", schema, OwnDraws(table_state(schema)))
        assert values == dict(enumerate(expected.column(0).to_pylist()))


@pytest.fixture(scope="module")
def folders_of_values(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return [tmp_path_factory.mktemp("values")]


def test_many_rows_get_values_once_whatever_the_driver_gives_at_a_time(
    writer: WriteTool, tmp_path: Path
) -> None:
    ids = [None if at % 3 else -at for at in range(9000)]
    for name, most in (("much", 10**9), ("little", 7)):
        answer = writer.answer(tmp_path / name, table(), batch(ids), numbers={"most": most})
        values = written(tmp_path / name, table(), entries_of(answer))
        assert len(values) == len(set(values.values())) == 9000
        assert all(wish in (None, values[at]) for at, wish in enumerate(ids))
        assert answer["asked"] <= 6000 + 2048


def test_of_changed_rows_only_new_ones_get_values(writer: WriteTool, tmp_path: Path) -> None:
    schema = table(always=True)
    given: dict[str, Any] = {"origins": [None, 3, None, 9], "numbers": {"next": 50}}
    answer = writer.answer(tmp_path, schema, batch([None, 7, None, 8]), **given)
    report = decode_report(answer["entries"])
    assert written(tmp_path, schema, report.rowsets) == {0: 50, 1: 7, 2: 51, 3: 8}
    assert "NOT NULL" in writer.error(tmp_path, schema, batch([None, 7]), origins=[4, 5])
    refused = writer.error(tmp_path, schema, batch([7]), **given)
    assert "Column 'id' is GENERATED ALWAYS AS IDENTITY, but a row gives it the value 7" in refused


def test_rows_may_leave_the_column_out(writer: WriteTool, tmp_path: Path) -> None:
    rows = batch([None, None]).drop_columns(["id"])
    text = (
        '{"type":"struct","fields":[{"name":"v","type":"integer","nullable":true,"metadata":{}}]}'
    )
    for kind in ("byte", "short", "int", "long"):
        folder, schema = tmp_path / kind, table(kind)
        answer = writer.answer(folder, schema, rows, row_schema=text)
        assert written(folder, schema, entries_of(answer)) == {0: 1, 1: 2}


@pytest.mark.parametrize("step", [1, -1])
def test_rows_of_a_table_that_is_sorted_by_the_column_stay_sorted(
    writer: WriteTool, tmp_path: Path, step: int
) -> None:
    schema, key = table(step=step), [SortField(column=1, descending=step < 0)]
    brought = [-step * each for each in range(3000, 100, -1)]
    ids: list[int | None] = [None] * 3000
    ids = [*ids, *brought] if step > 0 else [*brought, *ids]
    numbers = {"next": step, "step": step}
    entries = entries_of(writer.answer(tmp_path, schema, batch(ids), key=key, numbers=numbers))
    assert len(entries) == 2
    values = written(tmp_path, schema, entries)
    assert all(wish in (None, values[at]) for at, wish in enumerate(ids))


def test_a_value_that_a_row_of_the_task_has_got_is_refused(
    writer: WriteTool, tmp_path: Path
) -> None:
    ids: list[int | None] = [None] * 1200
    schema = table(step=3)
    for value, is_refused in ((1, True), (2, False), (3 * 1023 + 1, True)):
        answer = writer.answer(tmp_path, schema, batch([*ids, value]), numbers={"step": 3})
        assert ("error" in answer) == is_refused, value
        if is_refused:
            assert f"has the value {value} in identity column 'id'" in answer["error"]
    rows = identified([batch(ids), batch([1])], "t", schema, OwnDraws(table_state(schema)))
    with pytest.raises(InvalidInputError, match="has the value 1 in identity column 'id'"):
        list(rows)
