"""`sql`: print what a query of DuckDB finds in the tables of a database."""

from __future__ import annotations

import sys
from collections.abc import Collection
from itertools import chain, count
from pathlib import Path
from typing import Annotated, Any

import orjson
import pyarrow as pa
import typer

from colonnade.cli.arguments import (
    DatabaseArgument,
    EpochOption,
    JsonOption,
    TagOption,
    TimestampOption,
)
from colonnade.cli.exit_codes import MissingError
from colonnade.cli.output import Output, rows_table
from colonnade.cli.places import open_place
from colonnade.cli.rows.export_files import write_rows
from colonnade.cli.rows.python_rows import python_rows
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.tableformat.engines.libraries import library

_NOT_IN_ARROW = frozenset({"bit", "interval", "time with time zone", "uhugeint"})
"""Types of DuckDB whose values Arrow or Python would show otherwise, or lose."""

_NOT_IN_CELLS = _NOT_IN_ARROW | {"array", "blob", "list", "map", "struct", "union"}
"""Types that have no form of their own in a printed table and in CSV."""


def sql(
    database: DatabaseArgument,
    query: Annotated[
        str | None,
        typer.Argument(metavar="QUERY", help="A SELECT; - or nothing reads standard input."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Read the query from this file.")
    ] = None,
    parameters: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="The value of $NAME, as JSON or else as text; repeat it for more.",
        ),
    ] = None,
    epoch: EpochOption = None,
    timestamp: TimestampOption = None,
    tag: TagOption = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, help="Print a table of at most this many rows.")
    ] = 100,
    csv: Annotated[bool, typer.Option("--csv", help="Print all rows as CSV.")] = False,
    json: JsonOption = False,
) -> None:
    """Query the tables of a database as of one epoch, in the SQL of DuckDB."""
    output = Output(json)
    if csv and json:
        raise InvalidInputError("Give --csv or --json, not both.")
    text = _text_of(query, file)
    try:
        relation = open_place(database).database.sql(
            text, _values(parameters), epoch=epoch, timestamp=timestamp, tag=tag
        )
    except ImportError as error:
        raise MissingError(str(error)) from error
    try:
        chosen = relation if json or csv else relation.limit(limit + 1)
        chosen = _with_texts(chosen, _NOT_IN_ARROW if json else _NOT_IN_CELLS)
        rows = _with_names_once(pa.RecordBatchReader.from_stream(chosen))
        if csv:
            write_rows(sys.stdout.buffer, "csv", rows.schema, rows)
            return
        found = [row for batch in rows for row in python_rows(batch)]
    except (library("duckdb", "sql").Error, pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # The output failed, and not the query: Arrow's own errors have no number.
        reason = str(error).partition("\n")[0]
        raise InvalidInputError(f"The query failed: {reason}") from error
    names = rows.schema.names
    output.show(found, rows_table(names, [[row[name] for name in names] for row in found[:limit]]))
    if not json and len(found) > limit:
        output.note(f"There are more than {limit} rows: give a higher --limit, --csv or --json.")


def _text_of(query: str | None, file: Path | None) -> str:
    """Return the query. Raises InvalidInputError, and NotFoundError for a missing file."""
    if file is None:
        return sys.stdin.read() if query in (None, "-") else str(query)
    if query is not None:
        raise InvalidInputError("Give a query or a --file, not both.")
    try:
        return file.read_text()
    except FileNotFoundError as error:
        raise NotFoundError(f"There is no file {file} to read a query from.") from error
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"The query in {file} is not UTF-8: {error.reason}.") from error


def _with_texts(relation: Any, kinds: Collection[str]) -> Any:
    """Return a relation of DuckDB whose columns of some types are text, as DuckDB writes it."""
    if not any(each.id in kinds for each in relation.types):
        return relation
    columns = [
        f"#{number} AS {_quoted(name)}"
        if kind.id not in kinds
        else f"CAST(#{number} AS VARCHAR) AS {_quoted(name)}"
        for number, (name, kind) in enumerate(zip(relation.columns, relation.types, strict=True), 1)
    ]
    return relation.project(", ".join(columns))


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _with_names_once(rows: pa.RecordBatchReader) -> pa.RecordBatchReader:
    """Return rows whose columns have different names. Columns of a join may share one."""
    names = list[str]()
    for name in rows.schema.names:
        tries = chain((name,), (f"{name}_{number}" for number in count(1)))
        names.append(next(each for each in tries if each not in names))
    schema = pa.schema(
        [field.with_name(name) for field, name in zip(rows.schema, names, strict=True)]
    )
    batches = (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in rows)
    return pa.RecordBatchReader.from_batches(schema, batches)


def _values(parameters: list[str] | None) -> dict[str, Any] | None:
    """Return the values of parameters by name. Raises InvalidInputError."""
    if not parameters:
        return None
    values = {}
    for each in parameters:
        name, equals, value = each.partition("=")
        if not name or not equals:
            raise InvalidInputError(f"--param takes NAME=VALUE, not {each!r}.")
        if name in values:
            raise InvalidInputError(f"--param gives {name!r} more than once; give it once.")
        try:
            values[name] = orjson.loads(value)
        except orjson.JSONDecodeError:
            values[name] = value
    return values
