"""Rows take all steps before they are stored, and each step once, whatever adds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timezone
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest

import colonnade
from colonnade import ArrowTable, IdentityColumn, InvalidInputError, WriteSettings
from colonnade.tableformat.write.pipeline import STEPS, RowPipeline, Step
from tests.planned_write import planned


def marking(name: str, done: list[str]) -> Step:
    """A step that notes that it is done."""

    def step(name: str, rows: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for each in rows:
            done.append(name)
            yield each

    return partial(step, name)


def test_a_pipeline_runs_its_steps_in_order_and_leaves_out_those_of_matched_rows(
    tmp_path: Path,
) -> None:
    done: list[str] = []
    steps = RowPipeline(
        target=planned(tmp_path).target, **{name: marking(name, done) for name in STEPS}
    )
    [_] = steps.run([pa.record_batch({"a": [1]})])
    assert done == list(STEPS)
    done.clear()
    [_] = steps.to_match([pa.record_batch({"a": [1]})])
    assert done == ["divide", "expire", "conform", "generate"]


UTC = pa.timestamp("us", "UTC")
HOUR = WriteSettings(ttl="1 hour")
COLUMNS = pa.schema(
    [
        ("id", pa.int64()),
        ("v", pa.int32()),
        pa.field("ends", UTC, nullable=False),
        ("day", pa.date32()),
    ]
)
Add = Callable[[ArrowTable, pa.Table], object]
ROADS: dict[str, Add] = {
    "append": lambda table, rows: table.append(rows, settings=HOUR),
    "append of a stream": lambda table, rows: table.append(rows.to_reader(), settings=HOUR),
    "append that may evolve": lambda table, rows: table.append(rows, evolve=True, settings=HOUR),
    "append that evolves": lambda table, rows: table.append(
        rows.append_column("more", rows["v"]), evolve=True, settings=HOUR
    ),
    "overwrite": lambda table, rows: table.overwrite(rows, settings=HOUR),
    "overwrite where": lambda table, rows: table.overwrite(
        rows, "day > DATE '2020-01-01' AND id > 0", settings=HOUR
    ),
    "overwrite partitions": lambda table, rows: table.overwrite_partitions(rows, settings=HOUR),
    "upsert on": lambda table, rows: table.upsert(
        rows.append_column("ends", pa.nulls(rows.num_rows, UTC)), "v", settings=HOUR
    ),
}


@pytest.mark.parametrize("road", ROADS)
def test_every_road_does_every_step(tmp_path: Path, road: str) -> None:
    table = colonnade.create(
        tmp_path / "t",
        COLUMNS,
        identity={"id": IdentityColumn()},
        generated={"day": "CAST(ends AS DATE)"},
        constraints={"known": "id > 0", "small": "v < 100", "later": "day > DATE '2020-01-01'"},
        properties={"ttl.expires": "ends"},
    )
    ROADS[road](table, pa.table({"v": pa.array([1, 2], pa.int8())}))
    found = table.scan().to_arrow().select(COLUMNS.names).to_pylist()
    days = {date.today(), datetime.now(timezone.utc).date()}
    assert [(row["id"], row["v"]) for row in found] == [(1, 1), (2, 2)]
    for row in found:
        assert row["ends"] > datetime.now(timezone.utc)
        assert abs((row["day"] - max(days)).days) <= 1
    with pytest.raises(InvalidInputError, match="Constraint 'small'"):
        ROADS[road](table, pa.table({"v": pa.array([100], pa.int8())}))
    with pytest.raises(InvalidInputError, match="'v'"):
        ROADS[road](table, pa.table({"v": ["x"]}))
    assert table.scan().count() == 2
