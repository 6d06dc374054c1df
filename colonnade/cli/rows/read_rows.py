"""`head` and `count`: print or count rows of one epoch of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer
from rich.console import RenderableType
from rich.text import Text

from colonnade.cli.arguments import (
    ColumnsOption,
    EpochOption,
    JsonOption,
    TableArgument,
    TagOption,
    TimestampOption,
    WhereOption,
    given_names,
)
from colonnade.cli.engine import ABOVE, AboveOption, SparkOption, choose_engine, start_spark
from colonnade.cli.output import Output, rows_table
from colonnade.cli.places import DatabasePlace, open_place
from colonnade.cli.progress import progress
from colonnade.spark_ext.options import storage_texts
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.plan import ScanPlan
from colonnade.tableformat.scan.run import read_plan_parallel


@dataclass(frozen=True, slots=True)
class CountFacts:
    """The number of rows; `engine` is `log` if no data file was opened."""

    table: str
    epoch: int
    rows: int
    engine: str


def head(
    table: TableArgument,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Print at most this many rows.")
    ] = 10,
    columns: ColumnsOption = None,
    where: WhereOption = None,
    epoch: EpochOption = None,
    timestamp: TimestampOption = None,
    tag: TagOption = None,
    json: JsonOption = False,
) -> None:
    """Print the first rows of a table."""
    scan = open_place(table).table.scan(
        given_names(columns), where, epoch=epoch, timestamp=timestamp, tag=tag
    )
    rows: list[dict[str, Any]] = []
    for batch in scan.to_batches():
        rows += _python_rows(batch.slice(0, min(limit - len(rows), batch.num_rows)))
        if len(rows) == limit:
            break
    Output(json).show(rows, _rows_view(scan.schema.names, rows))


def _python_rows(batch: pa.RecordBatch) -> list[dict[str, Any]]:
    columns = [[_python_value(each) for each in column] for column in batch.columns]
    return [dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)]


def _python_value(value: pa.Scalar) -> Any:
    """Convert a value, also inside nested ones; a time that Python cannot hold becomes text."""
    if not value.is_valid:
        return None
    match value:
        case pa.StructScalar():
            return {name: _python_value(each) for name, each in value.items()}
        case pa.MapScalar():
            return [tuple(_python_value(part) for part in pair.values()) for pair in value.values]
        case pa.ListScalar():
            return [_python_value(each) for each in value.values]
    try:
        return (value.cast(pa.time64("us")) if pa.types.is_time64(value.type) else value).as_py()
    except (OverflowError, ValueError):
        # Arrow's own texts of times are wrong from the year 32768 on.
        if isinstance(value, pa.Date32Scalar):
            return _iso(np.datetime64(value.value, "D"))
        if isinstance(value, pa.TimestampScalar):
            zone = "" if value.type.tz is None else "+00:00"
            return _iso(np.datetime64(value.value, value.type.unit)) + zone
        return value.cast(pa.string()).as_py()


def _iso(time: np.datetime64) -> str:
    """Format a time; NumPy counts the sign of a year as one of its four digits."""
    return re.sub(r"^-(?=\d{3}-)", "-0", str(time))


def count(
    table: TableArgument,
    where: WhereOption = None,
    epoch: EpochOption = None,
    timestamp: TimestampOption = None,
    tag: TagOption = None,
    spark: SparkOption = "auto",
    spark_above: AboveOption = ABOVE,
    json: JsonOption = False,
) -> None:
    """Count the rows of a table; without a predicate only the log is read."""
    output, place = Output(json), open_place(table)
    scan = place.table.scan([], where, epoch=epoch, timestamp=timestamp, tag=tag)
    known = None if where is not None else live_rows(scan._plan)
    if known is not None:
        rows, engine = known, "log"
    else:
        choice = choose_engine(scan._plan.byte_count, spark, spark_above)
        engine = choice.name
        if choice.name == "spark":
            session = start_spark(choice, output)
            reader = session.read.format("colonnade").options(
                **storage_texts(place.location.address)
            )
            named = any(each is not None for each in (epoch, timestamp, tag))
            seen = {} if named else {"seenAt": "now"}
            frame = reader.options(epoch=scan.epoch, **seen).load(place.location.url)
            rows = (frame if where is None else frame.where(where)).count()
        else:
            rows = _count_here(place, scan, output)
    facts = CountFacts(place.location.url, scan.epoch, rows, engine)
    output.show(facts, Text(f"{rows:,}"))


def live_rows(plan: ScanPlan) -> int | None:
    """Count the rows that a plan reads, before its predicate; None if the log does not tell."""
    if not all(each.rowset.is_counted for each in plan.rowsets):
        return None
    return sum(each.rowset.row_count for each in plan.rowsets)


def _count_here(place: DatabasePlace, scan: Scan, output: Output) -> int:
    rows = 0
    with progress(output, "count", "rows", None) as advance:
        for batch in read_plan_parallel(place.location.store, scan._plan):
            rows += batch.num_rows
            advance(batch.num_rows)
    return rows


def _rows_view(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> RenderableType:
    return rows_table(names, [[row[name] for name in names] for row in rows])
