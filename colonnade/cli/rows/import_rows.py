"""`import`: commit rows from files or a query as one epoch of a table."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table as RichTable

from colonnade.cli.arguments import JsonOption, TableArgument, YesOption
from colonnade.cli.ask import require_yes
from colonnade.cli.engine import (
    ABOVE,
    AboveOption,
    ChosenEngine,
    SparkChoice,
    SparkOption,
    choose_engine,
    start_spark,
)
from colonnade.cli.output import Output, facts_table, number
from colonnade.cli.progress import with_progress
from colonnade.cli.rows.sources import (
    SUFFIXES,
    CsvFiles,
    ParquetFiles,
    QueryResult,
    Source,
    find_files,
)
from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.log.log import Log
from colonnade.manifests.model.column_names import split_list
from colonnade.manifests.model.operations import CreateTable
from colonnade.manifests.sizes import size_text
from colonnade.manifests.state.snapshot import Snapshot, TableState
from colonnade.manifests.store import StoreAddress
from colonnade.spark_ext.options.user_options import storage_texts
from colonnade.tableformat.compaction.auto import compact_after
from colonnade.tableformat.keys.policy import merges
from colonnade.tableformat.keys.static_parts import stored_table
from colonnade.tableformat.location import Location, locate, read_base
from colonnade.tableformat.progress import step
from colonnade.tableformat.statements.commit import commit_written
from colonnade.tableformat.statements.keyed.incoming import incoming_columns, merging_job
from colonnade.tableformat.statements.static_split import StaticSplit
from colonnade.tableformat.table.design.new_table import new_table
from colonnade.tableformat.table.table import ArrowTable
from colonnade.tableformat.types.arrow_types import arrow_schema, schema_from_arrow
from colonnade.tableformat.write.job import WriteJob, plan_write
from colonnade.tableformat.write.run import write_rows
from colonnade.tableformat.write.settings import CommitSettings

Mode = Literal["append", "create", "overwrite"]
Format = Literal["parquet", "csv"]


@dataclass(frozen=True, slots=True)
class ImportFacts:
    """What an import did; `engine` is `arrow` or `spark`, `bytes` the size of the new RowSets."""

    table: str
    epoch: int
    rows: int
    rowsets: int
    bytes: int
    engine: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Target:
    """The table to import into, before the import; `base` and `state` are None if it is new."""

    location: Location
    log: Log
    base: Snapshot | None
    state: TableState | None


@dataclass(frozen=True, slots=True)
class _Design:
    """The options that only apply to a new table."""

    sort_key: str | None
    partition_by: str | None


@with_progress
def import_(
    table: TableArgument,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE]...", help="Parquet or CSV files, folders or patterns."),
    ] = None,
    query: Annotated[
        str | None,
        typer.Option("--query", help="Import the rows of this DuckDB query instead of files."),
    ] = None,
    file_format: Annotated[
        Format | None,
        typer.Option("--format", help="The format of the files, if their suffix does not say it."),
    ] = None,
    mode: Annotated[
        Mode, typer.Option("--mode", help="Append rows, require a new table, or replace all rows.")
    ] = "append",
    sort_key: Annotated[
        str | None,
        typer.Option("--sort-key", metavar="A,B desc", help="The sort key of a new table."),
    ] = None,
    partition_by: Annotated[
        str | None,
        typer.Option(
            "--partition-by",
            metavar="FIELDS",
            help="The partitions of a new table, such as days(ts), bucket(16, id).",
        ),
    ] = None,
    as_plain_files: Annotated[
        bool,
        typer.Option(
            "--as-plain-files",
            help="Import files of a Delta Lake, Iceberg, Hudi or Paimon table with deleted rows.",
        ),
    ] = False,
    spark: SparkOption = "auto",
    spark_above: AboveOption = ABOVE,
    yes: YesOption = False,
    json: JsonOption = False,
) -> None:
    """Import Parquet or CSV files, or the rows of a query, as one epoch.

    The command creates the table if it does not exist. Columns are matched by name.
    """
    output, started = Output(json), time.perf_counter()
    design = _Design(sort_key, partition_by)
    target = _target(table, mode, design)
    source, files = _source(sources or [], query, file_format, target.state, as_plain_files)
    engine = _engine_for(source, spark, spark_above)
    if mode == "overwrite" and target.state is not None:
        require_yes(f"Replace all rows of {target.location.url}?", yes)
    if engine.name == "spark":
        columns = [f"`{name.replace('`', '``')}`" for name in source.schema.names]
        done = _import_by_spark(target, files, columns, mode, design, engine, output)
    else:
        done = _import_here(target, source, mode, design)
    done = replace(done, seconds=round(time.perf_counter() - started, 3))
    output.show(done, _facts_of(done))


def _facts_of(done: ImportFacts) -> RichTable:
    rate = done.rows / max(done.seconds, 0.001)
    return facts_table(
        (
            ("table", done.table),
            ("epoch", str(done.epoch)),
            ("rows", done.rows),
            ("RowSets", done.rowsets),
            ("size", size_text(done.bytes)),
            ("time", f"{done.seconds:.1f} s, {number(rate)} rows/s"),
        )
    )


def _engine_for(source: Source, spark: SparkChoice, above: str) -> ChosenEngine:
    """Choose the engine. Raises InvalidInputError if Spark must import what it cannot read."""
    engine = choose_engine(source.byte_count, spark, above)
    if engine.name == "spark" and not isinstance(source, ParquetFiles):
        if spark == "always":
            raise InvalidInputError("Spark imports Parquet files only; leave out --spark always.")
        return ChosenEngine("arrow", "")
    return engine


def _target(table: StoreAddress, mode: Mode, design: _Design) -> _Target:
    location = locate(table)
    log = Log(location.store)
    base = read_base(location, log)
    state = None if base is None else location.find(base)
    if state is not None and mode == "create":
        raise AlreadyExistsError(f"Table {location.url} already exists; choose another --mode.")
    if state is not None and design != _Design(None, None):
        raise InvalidInputError(
            f"Table {location.url} exists; --sort-key and --partition-by need a new table."
        )
    return _Target(location, log, base, state)


def _source(
    given: Sequence[str],
    query: str | None,
    file_format: Format | None,
    state: TableState | None,
    as_plain_files: bool,
) -> tuple[Source, list[Path]]:
    """Choose the source to read, and its files. Raises InvalidInputError for unclear arguments."""
    if (query is None) == (not given):
        raise InvalidInputError("Give either files to import or --query.")
    if query is not None:
        if file_format is not None:
            raise InvalidInputError("--format is the format of files; leave it out with --query.")
        if as_plain_files:
            raise InvalidInputError("--as-plain-files is about files; leave it out with --query.")
        return QueryResult(query), []
    every = tuple(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    suffixes = SUFFIXES[file_format] if file_format else every
    files = find_files(given, suffixes, as_plain_files=as_plain_files)
    kinds = {file_format or _format_of(file) for file in files}
    if kinds == {"parquet"}:
        return ParquetFiles(files), files
    if kinds == {"csv"}:
        return CsvFiles(files, None if state is None else arrow_schema(state.schema)), files
    raise InvalidInputError("Import Parquet files and CSV files by separate commands.")


def _format_of(file: Path) -> Format:
    for name in ("parquet", "csv"):
        if file.name.lower().endswith(SUFFIXES[name]):
            return name
    raise InvalidInputError(f"The suffix of {file} does not say its format; choose a --format.")


def _import_here(target: _Target, source: Source, mode: Mode, design: _Design) -> ImportFacts:
    """Stream the rows into RowSets in this process, and commit the RowSets."""
    job = _planned(target, source, mode, design)
    # A new table has no static columns.
    split = None if target.state is None else StaticSplit(target.state, job.job_id)
    divide = None if split is None else split.batches
    with step("import", job.target.name, source.unit, source.total) as advance:
        rows = source.batches(advance)
        entries = write_rows(job, rows, target.location.store, divide=divide)
    statics = None if split is None else split.static_values
    snapshot = commit_written(job, entries, target.log, target.base, fresh=True, statics=statics)
    compact_after(target.log, snapshot, job.target.table)
    return ImportFacts(
        table=target.location.url,
        epoch=snapshot.epoch,
        rows=sum(entry.rows for entry in entries),
        rowsets=len(entries),
        bytes=sum(entry.bytes for entry in entries),
        engine="arrow",
    )


def _planned(target: _Target, source: Source, mode: Mode, design: _Design) -> WriteJob:
    """Plan the write. Rows that merge keep the values of existing rows in columns they lack."""
    job = plan_write(
        target.location,
        target.base,
        "overwrite" if mode == "overwrite" else "append",
        create=_new_table(target, source, design),
        commit=CommitSettings(metadata="colonnade import"),
        limits=target.log.limits,
    )
    if target.state is None or mode == "overwrite":
        return job
    table = stored_table(target.state)
    if not merges(table, None):
        return job
    return merging_job(job, table, incoming_columns(table, source.schema.names))


def _new_table(target: _Target, source: Source, design: _Design) -> CreateTable | None:
    if target.state is not None:
        return None
    name, schema = target.location.new_table_name, schema_from_arrow(source.schema)
    fields = split_list(design.partition_by or "")
    return new_table(name, schema, sort_key=split_list(design.sort_key or ""), partition_by=fields)


def _import_by_spark(
    target: _Target,
    files: Sequence[Path],
    columns: Sequence[str],
    mode: Mode,
    design: _Design,
    engine: ChosenEngine,
    output: Output,
) -> ImportFacts:
    """Have Spark read the Parquet files and write them as one epoch."""
    session = start_spark(engine, output)
    note = f"colonnade import {secrets.token_hex(4)}"
    paths = [str(file.resolve()) for file in files]
    # Spark would take an index of pandas that has no name for a column.
    rows = session.read.option("mergeSchema", True).parquet(*paths).select(*columns)
    address = target.location.address
    writer = rows.write.format("colonnade").options(**storage_texts(address))
    writer = writer.option("userMetadata", note)
    for name, value in (("sortKey", design.sort_key), ("partitionBy", design.partition_by)):
        if value is not None:
            writer = writer.option(name, value)
    writer.mode("overwrite" if mode == "overwrite" else "append").save(address.url)
    # Concurrent writers may have committed meanwhile, so the newest epoch may not be this one.
    made = next(
        each
        for each in ArrowTable.open(address).history()
        if each.parameters.get("userMetadata") == note
    )
    return ImportFacts(
        table=address.url,
        epoch=made.epoch,
        rows=made.rows_added,
        rowsets=made.rowsets_added,
        bytes=made.bytes_added,
        engine="spark",
    )
