"""`export`: write the rows of one epoch to a file, to standard output, or by Spark to a folder."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pyarrow as pa
import typer
from rich.table import Table as RichTable

from colonnade.cli.arguments import (
    ColumnsOption,
    EpochOption,
    JsonOption,
    TableArgument,
    TagOption,
    TimestampOption,
    WhereOption,
    YesOption,
    given_names,
)
from colonnade.cli.ask import require_yes
from colonnade.cli.engine import ChosenEngine, start_spark
from colonnade.cli.output import Output, facts_table, number
from colonnade.cli.places import DatabasePlace, open_place
from colonnade.cli.progress import with_progress
from colonnade.cli.rows.export_files import ExportFormat, write_file, write_rows
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.sizes import size_text
from colonnade.spark_ext.options.user_options import storage_texts
from colonnade.tableformat.progress import step
from colonnade.tableformat.scan.arrow_scan import Scan
from colonnade.tableformat.scan.run import read_plan_parallel


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """What an export wrote; `target` is the file, or the folder that Spark filled."""

    table: str
    epoch: int
    target: str
    rows: int
    bytes: int
    engine: str
    seconds: float


@with_progress
def export(
    table: TableArgument,
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A .parquet, .csv or .jsonl file, - for standard output, or a folder/ that Spark"
            " fills.",
        ),
    ],
    columns: ColumnsOption = None,
    where: WhereOption = None,
    epoch: EpochOption = None,
    timestamp: TimestampOption = None,
    tag: TagOption = None,
    file_format: Annotated[
        ExportFormat | None,
        typer.Option(
            "--format", help="The format, if the suffix does not say it; of standard output: csv."
        ),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="Export at most this many rows.")
    ] = None,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Export rows to a Parquet, CSV or JSON Lines file, or by Spark to a folder of such files.

    A target that ends in a slash is a folder, which Spark fills in parallel. A file appears under
    its name only when it is complete. The target - is standard output.
    """
    output, started = Output(json), time.perf_counter()
    place, path, by_spark = open_place(table), Path(target), target.endswith("/")
    scan = place.table.scan(given_names(columns), where, epoch=epoch, timestamp=timestamp, tag=tag)
    if target == "-":
        _export_to_pipe(place, scan, limit, file_format or "csv", json)
        return
    chosen = file_format or _format_of(path, by_spark)
    if not by_spark:
        _require_file(path)
    if path.exists():
        require_yes(f"Replace {target}?", yes)
    if by_spark:
        engine = ChosenEngine("spark", f"it fills the folder {target} in parallel")
        rows = _export_by_spark(place, scan, where, limit, path, chosen, engine, output)
    else:
        rows = _export_here(place, scan, limit, path, chosen)
    done = ExportFacts(
        table=place.location.url,
        epoch=scan.epoch,
        target=target,
        rows=rows,
        bytes=_stored_bytes(path),
        engine="spark" if by_spark else "arrow",
        seconds=round(time.perf_counter() - started, 3),
    )
    output.show(done, _facts_of(done))


def _facts_of(done: ExportFacts) -> RichTable:
    rate = done.rows / max(done.seconds, 0.001)
    return facts_table(
        (
            ("target", done.target),
            ("epoch", done.epoch),
            ("rows", done.rows),
            ("size", size_text(done.bytes)),
            ("time", f"{done.seconds:.1f} s, {number(rate)} rows/s"),
        )
    )


def _format_of(path: Path, is_folder: bool) -> ExportFormat:
    formats: tuple[ExportFormat, ...] = ("parquet", "csv", "jsonl")
    for name in formats:
        if path.name.lower().endswith(f".{name}"):
            return name
    if is_folder:
        return "parquet"
    raise InvalidInputError(f"{path} does not end in .parquet, .csv or .jsonl; choose a --format.")


def _require_file(path: Path) -> None:
    """Raise InvalidInputError for a folder, NotFoundError if the parent folder does not exist."""
    if path.is_dir():
        raise InvalidInputError(
            f"{path} is a folder; end it with a slash to have Spark write files into it."
        )
    if not path.parent.is_dir():
        raise NotFoundError(
            f"There is no folder {path.parent} to write {path.name} to; make it first."
        )


def _export_to_pipe(
    place: DatabasePlace, scan: Scan, limit: int | None, chosen: ExportFormat, json: bool
) -> None:
    if json:
        raise InvalidInputError(
            "--json prints to standard output, too; leave it out, or use --format jsonl."
        )
    batches = _limited(read_plan_parallel(place.location.store, scan._plan), limit)
    write_rows(sys.stdout.buffer, chosen, scan.schema, batches)


def _limited(batches: Iterator[pa.RecordBatch], limit: int | None) -> Iterator[pa.RecordBatch]:
    """Yield batches with at most `limit` rows in all; reads no further than it has to."""
    left = limit
    for batch in batches if left != 0 else ():
        yield batch if left is None else batch.slice(0, left)
        left = None if left is None else max(left - batch.num_rows, 0)
        if left == 0:
            return


def _export_here(
    place: DatabasePlace,
    scan: Scan,
    limit: int | None,
    path: Path,
    chosen: ExportFormat,
) -> int:
    rows = 0
    total = scan._plan.known_rows
    if total is not None and limit is not None:
        total = min(total, limit)

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal rows
        for batch in _limited(read_plan_parallel(place.location.store, scan._plan), limit):
            yield batch
            rows += batch.num_rows
            advance(batch.num_rows)

    with step("export", scan._plan.table, "rows", total) as advance:
        write_file(path, chosen, scan.schema, counted())
    return rows


def _export_by_spark(
    place: DatabasePlace,
    scan: Scan,
    where: str | None,
    limit: int | None,
    path: Path,
    chosen: ExportFormat,
    engine: ChosenEngine,
    output: Output,
) -> int:
    session = start_spark(engine, output)
    reader = session.read.format("colonnade").options(**storage_texts(place.location.address))
    frame = reader.option("epoch", scan.epoch).load(place.location.url)
    if where is not None:
        frame = frame.where(where)
    if limit is not None:
        frame = frame.limit(limit)
    # Spark would read a dot in an unquoted name as the path to a field of a struct.
    columns = ["`" + name.replace("`", "``") + "`" for name in scan.schema.names]
    writer = frame.select(*columns).write.mode("overwrite")
    if chosen == "csv":
        writer = writer.option("header", True)
    writer.format("json" if chosen == "jsonl" else chosen).save(str(path.resolve()))
    # The table is counted, since a text with line breaks takes several lines of a CSV file.
    rows: int = frame.count()
    return rows


def _stored_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(file.stat().st_size for file in files if file.is_file())
