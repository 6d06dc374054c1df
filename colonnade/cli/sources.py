"""What `import` reads: Parquet files, CSV files, or the result of a query, as record batches.

All files of one import have one schema: columns that some of them lack are NULL there, and types
that differ must have one that holds both.
"""

from __future__ import annotations

import glob
import importlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from colonnade.cli.exit_codes import MissingError
from colonnade.cli.progress import Advance, Unit
from manifests.errors import InvalidInputError, NotFoundError

SUFFIXES = {"parquet": (".parquet", ".pq"), "csv": (".csv", ".csv.gz", ".tsv", ".tsv.gz")}
"""The names of files by format."""

_BATCH_ROWS = 65_536


class Source(Protocol):
    """Rows to import. `total` counts `unit`s, None where that is not known before."""

    schema: pa.Schema
    unit: Unit
    total: int | None
    byte_count: int

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report what was read."""


class ParquetFiles:
    """Parquet files, in the order given."""

    unit: Unit = "rows"

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        footers = [_open_parquet(path) for path in paths]
        self.total: int | None = sum(footer.metadata.num_rows for footer in footers)
        self.byte_count = sum(path.stat().st_size for path in paths)
        self.schema = unified([footer.schema_arrow for footer in footers], paths)

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report them."""
        for path in self._paths:
            with _open_parquet(path) as file:
                for batch in file.iter_batches(_BATCH_ROWS):
                    yield aligned(batch, self.schema)
                    advance(batch.num_rows)


class CsvFiles:
    """CSV files with a header; what ends in `.tsv` is separated by tabs, in `.gz` compressed.

    Types are those of `known` columns, else guessed from the first megabyte of each file; a column
    without values is of texts. An empty field is NULL, a quoted empty one the empty text, and every
    other text is itself: `NA` too, and NaN is a number. Instants without a zone are in UTC.
    """

    unit: Unit = "bytes"

    def __init__(self, paths: Sequence[Path], known: pa.Schema | None) -> None:
        self._paths = paths
        self._types = {} if known is None else {field.name: field.type for field in known}
        # Arrow reads instants only where each of them names its zone.
        instants = {n: t for n, t in self._types.items() if pa.types.is_timestamp(t) and t.tz}
        self._types |= dict.fromkeys(instants, pa.string())
        schemas = []
        for path in paths:
            with path.open("rb") as file:
                schemas.append(self._open(file, path).schema)
        read = _texts_for_nothing(unified(schemas, paths))
        self._types |= {field.name: field.type for field in read}
        self.schema = pa.schema([f.with_type(instants.get(f.name, f.type)) for f in read])
        self.total: int | None = sum(path.stat().st_size for path in paths)
        self.byte_count = self.total or 0

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report the bytes of the files."""
        for path in self._paths:
            with path.open("rb") as file:
                reader, done = self._open(file, path), 0
                while (batch := _next(reader, path)) is not None:
                    try:
                        batch = _with_instants(batch, self.schema)
                    except pa.ArrowException as error:
                        raise _unreadable(path, error) from error
                    yield aligned(batch, self.schema)
                    advance(file.tell() - done)
                    done = file.tell()

    def _open(self, file: Any, path: Path) -> Any:
        name = path.name.removesuffix(".gz")
        stream = pa.CompressedInputStream(file, "gzip") if name != path.name else file
        convert = pa_csv.ConvertOptions(
            column_types=self._types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        delimiter = "\t" if name.endswith(".tsv") else ","
        parse = pa_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
        try:
            return pa_csv.open_csv(stream, parse_options=parse, convert_options=convert)
        except pa.ArrowException as error:
            raise _unreadable(path, error) from error


class QueryResult:
    """The rows of a query that DuckDB runs; it can read files of most kinds."""

    unit: Unit = "rows"
    total: int | None = None
    byte_count = 0

    def __init__(self, query: str) -> None:
        try:
            duckdb = importlib.import_module("duckdb")
        except ModuleNotFoundError as error:
            raise MissingError("import --query needs DuckDB: install duckdb.") from error
        self._error = duckdb.Error
        try:
            relation = duckdb.connect().sql(query)
            if relation is None:
                raise InvalidInputError("The query returns no rows; give a SELECT.")
            self._reader = pa.RecordBatchReader.from_stream(relation)
        except duckdb.Error as error:
            raise self._failed(error) from error
        self.schema = self._reader.schema

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report them."""
        try:
            for batch in self._reader:
                yield batch
                advance(batch.num_rows)
        except (self._error, pa.ArrowException, OSError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> InvalidInputError:
        return InvalidInputError(f"The query failed: {_first_line(error)}")


def find_files(given: Sequence[str], suffixes: Sequence[str]) -> list[Path]:
    """The files that paths, folders and patterns mean, folders searched through.

    Names that begin with a dot or underscore are passed over, as Spark does. Raises NotFoundError
    for what names no file, InvalidInputError for folders that hold column values in their names.
    """
    found: list[Path] = []
    for text in given:
        matches = [Path(name) for name in sorted(glob.glob(text))] or [Path(text)]
        files = [file for path in matches for file in _files(path, suffixes)]
        if not files:
            raise NotFoundError(f"{text} names no file to import.")
        found += files
    return found


def unified(schemas: Sequence[pa.Schema], paths: Sequence[Path]) -> pa.Schema:
    """One schema for all files. Raises InvalidInputError where there is none."""
    try:
        return pa.unify_schemas(
            [s.remove_metadata() for s in schemas], promote_options="permissive"
        )
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"The {len(paths)} files from {paths[0]} on do not fit together: {_first_line(error)}"
        ) from error


def aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with the columns of `schema`; those that it lacks are NULL."""
    if batch.schema.equals(schema):
        return batch
    columns = []
    for field in schema:
        place = batch.schema.get_field_index(field.name)
        if place < 0:
            columns.append(pa.nulls(batch.num_rows, field.type))
        else:
            columns.append(batch.column(place).cast(field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _texts_for_nothing(schema: pa.Schema) -> pa.Schema:
    """The schema with texts in the columns that have no value to tell their type by."""
    fields = (f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in schema)
    return pa.schema(fields)


def _with_instants(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """The batch with instants in place of the texts for which `schema` has instants."""
    for place, field in enumerate(batch.schema):
        wanted = schema.field(field.name)
        if field.type != wanted.type and pa.types.is_timestamp(wanted.type):
            batch = batch.set_column(place, wanted, _instants(batch.column(place), wanted.type))
    return batch


def _instants(texts: pa.Array, type_: pa.TimestampType) -> pa.Array:
    """Instants from ISO 8601 texts. Raises ArrowInvalid for a text that is none."""
    zoned = pc.match_substring_regex(texts, r":.*(Z|[+-]\d\d(:?\d\d)?)$")
    local = pc.if_else(zoned, None, texts).cast(pa.timestamp("us"))
    return pc.coalesce(
        pc.assume_timezone(local, "UTC").cast(type_),
        pc.if_else(zoned, texts, None).cast(type_),
    )


def _files(path: Path, suffixes: Sequence[str]) -> Iterator[Path]:
    if not path.is_dir():
        if path.exists():
            yield path
        return
    for file in sorted(path.rglob("*")):
        below = file.relative_to(path).parts
        if any(part.startswith((".", "_")) for part in below) or not file.is_file():
            continue
        if not file.name.lower().endswith(tuple(suffixes)):
            continue
        if any("=" in part for part in below[:-1]):
            raise InvalidInputError(
                f"The folders of {path} hold column values in their names; import it with --query"
                f" \"SELECT * FROM read_parquet('{path}/**', hive_partitioning = true)\"."
            )
        yield file


def _open_parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except pa.ArrowException as error:
        raise _unreadable(path, error) from error


def _next(reader: Any, path: Path) -> pa.RecordBatch | None:
    try:
        return reader.read_next_batch()
    except StopIteration:
        return None
    except pa.ArrowException as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(f"{path} cannot be read: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(". ") + "."
