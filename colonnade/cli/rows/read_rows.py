"""`head` and `count`: print or count rows of one epoch of a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

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
from colonnade.cli.output import Output, number, rows_table
from colonnade.cli.places import DatabasePlace, open_place
from colonnade.cli.progress import with_progress
from colonnade.cli.rows.python_rows import python_rows
from colonnade.spark_ext.options.user_options import storage_texts
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.arrow_scan import Scan
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
        rows += python_rows(batch.slice(0, min(limit - len(rows), batch.num_rows)))
        if len(rows) == limit:
            break
    Output(json).show(rows, _rows_view(scan.schema.names, rows))


@with_progress
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
    """Count the rows of a table, from the log alone where it tells their number."""
    output, place = Output(json), open_place(table)
    scan = place.table.scan([], where, epoch=epoch, timestamp=timestamp, tag=tag)
    known = scan._plan.known_rows
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
            rows = _count_here(place, scan)
    facts = CountFacts(place.location.url, scan.epoch, rows, engine)
    output.show(facts, Text(number(rows)))


def _count_here(place: DatabasePlace, scan: Scan) -> int:
    rows = 0
    with step("count", scan._plan.table, "rows") as advance:
        for batch in read_plan_parallel(place.location.store, scan._plan):
            rows += batch.num_rows
            advance(batch.num_rows)
    return rows


def _rows_view(names: Sequence[str], rows: Sequence[dict[str, Any]]) -> RenderableType:
    return rows_table(names, [[row[name] for name in names] for row in rows])
