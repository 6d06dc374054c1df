"""`verify`: look for damage, and report which tables, files and rows it affects."""

from __future__ import annotations

import importlib
from typing import Annotated, Any

import typer
from rich.text import Text

from colonnade.cli.arguments import JsonOption, PathArgument
from colonnade.cli.engine import ABOVE, AboveOption, SparkOption, choose_engine, start_spark
from colonnade.cli.exit_codes import ExitCode
from colonnade.cli.output import Output
from colonnade.cli.progress import with_progress
from colonnade.manifests.errors import CorruptionError
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.tableformat.location import locate_existing
from colonnade.tableformat.verify.findings import VerifyReport
from colonnade.tableformat.verify.run import verify_path


@with_progress
def verify(
    path: PathArgument,
    depth: Annotated[
        int,
        typer.Option(
            "--depth",
            min=1,
            max=4,
            help="How deep to check: 1 the log, 2 also indexes, 3 also checksums, 4 also values.",
        ),
    ] = 3,
    threads: Annotated[
        int | None,
        typer.Option("--threads", min=1, help="Number of threads; by default one per processor."),
    ] = None,
    spark: SparkOption = "auto",
    spark_above: AboveOption = ABOVE,
    json: JsonOption = False,
) -> None:
    """Look for damage in a database or a table: files, columns, blocks and rows. Changes nothing.

    Exits with code 8 if it finds damage; missing or wrong bytes in the log are damage, too.
    Without damage it exits with 7 if some parts have a newer format, or with 9 if the store does
    not let some parts be read.
    """
    output = Output(json)
    engine = choose_engine(_stored_bytes(path) if depth > 2 else 0, spark, spark_above)
    elsewhere: Any = None
    if engine.name == "spark":
        session = start_spark(engine, output)
        elsewhere = importlib.import_module("colonnade.spark_ext.executors").verify_on_executors(
            session
        )
    report = verify_path(path, depth, tables=_tables(path), threads=threads, elsewhere=elsewhere)
    output.show(report.to_json(), Text(str(report)))
    if not report.is_sound:
        raise typer.Exit(int(_exit_code(report)))


def _exit_code(report: VerifyReport) -> ExitCode:
    """Return the exit code for the worst kind of finding in a report."""
    if report.is_damaged:
        return ExitCode.CORRUPTION
    newer = any(each.kind == "newer" for each in report.findings)
    return ExitCode.UNSUPPORTED_FORMAT if newer else ExitCode.STORE


def _stored_bytes(path: StoreAddress) -> int:
    """Return the bytes of all files below the path, as the store lists them, damaged or not."""
    return sum(info.size for info in open_store(path).list(""))


def _tables(path: StoreAddress) -> list[str] | None:
    """Return the table that `path` names; None for a database, or if damage hides what it is."""
    try:
        table = locate_existing(path).table
    except CorruptionError:
        return None
    return None if table is None else [table]
