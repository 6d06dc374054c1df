"""The sources of `import`: Parquet files, CSV files or a query, read as record batches.

All files of one import share one schema. A column that a file lacks is NULL in its rows. Types
that differ between files need a common type that holds both.
"""

from __future__ import annotations

import glob
import importlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from colonnade.cli.exit_codes import MissingError
from colonnade.manifests.errors import InvalidInputError, NotFoundError
from colonnade.manifests.log.other_formats import format_of
from colonnade.tableformat.progress import Advance, Unit
from colonnade.tableformat.types.pandas_index import without_index

SUFFIXES = {"parquet": (".parquet", ".pq"), "csv": (".csv", ".csv.gz", ".tsv", ".tsv.gz")}
"""The suffixes of file names by format."""

_BATCH_ROWS = 65_536
_BLOCK_BYTES = 8 * 2**20
"""A row of a CSV file has at most this many bytes."""


class Source(Protocol):
    """Rows to import. `total` is their number in `unit`s, or None if it is not known before."""

    schema: pa.Schema
    unit: Unit
    total: int | None
    byte_count: int

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows, and report the `unit`s of each batch to `advance`."""


class ParquetFiles:
    """Parquet files, read in the given order."""

    unit: Unit = "rows"

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        footers = [_footer(path) for path in paths]
        self.total: int | None = sum(rows for rows, _ in footers)
        self.byte_count = sum(path.stat().st_size for path in paths)
        self.schema = unified([schema for _, schema in footers], paths)

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report them."""
        for path in self._paths:
            with _reading(path), pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_BATCH_ROWS):
                    yield aligned(batch, self.schema)
                    advance(batch.num_rows)


class CsvFiles:
    """CSV files with a header; `.tsv` files are separated by tabs, `.gz` files are compressed.

    A column of `known` has its type there. Other types are guessed from the first 8 MiB of each
    file, and a column without values is a string. An empty field is NULL, and a quoted empty field
    is the empty string. Other texts are kept, `NA` included, and NaN is a number. Instants without
    a zone are in UTC.
    """

    unit: Unit = "bytes"

    def __init__(self, paths: Sequence[Path], known: pa.Schema | None) -> None:
        self._paths = paths
        self._types = {} if known is None else {field.name: field.type for field in known}
        # Arrow reads a column as instants only if each value names its zone.
        instants = {n: t for n, t in self._types.items() if pa.types.is_timestamp(t) and t.tz}
        self._types |= dict.fromkeys(instants, pa.string())
        # In a file with one column an empty line is a NULL; in other files it is skipped.
        self._narrow: set[Path] = set()
        self._narrow = {path for path in paths if len(self._schema(path)) == 1}
        schemas = [self._schema(path) for path in paths]
        read = _texts_for_nothing(unified(schemas, paths))
        self._types |= {field.name: field.type for field in read}
        self.schema = pa.schema([f.with_type(instants.get(f.name, f.type)) for f in read])
        self.total: int | None = sum(path.stat().st_size for path in paths)
        self.byte_count = self.total or 0

    def batches(self, advance: Advance) -> Iterator[pa.RecordBatch]:
        """Stream the rows and report the bytes of the files."""
        for path in self._paths:
            with _reading(path), pa.OSFile(str(path)) as file:
                done = 0
                for batch in self._open(file, path):
                    yield aligned(_with_instants(batch, self.schema), self.schema)
                    advance(file.tell() - done)
                    done = file.tell()

    def _schema(self, path: Path) -> pa.Schema:
        with _reading(path), pa.OSFile(str(path)) as file:
            schema = self._open(file, path).schema
        try:
            types = dict(zip(schema.names, schema.types, strict=True))
        except UnicodeDecodeError as error:
            raise _not_utf8_error(path, "its first line") from error
        for name, type_ in types.items():
            if pa.types.is_binary(type_) and name not in self._types:  # Arrow found invalid UTF-8
                raise _not_utf8_error(path, f"column {name!r}")
        return schema

    def _open(self, file: pa.NativeFile, path: Path) -> Any:
        # `file` must not be a Python file: Arrow reads ahead in a thread, which would abort the
        # process if it needed the interpreter while that shuts down.
        name = path.name.removesuffix(".gz")
        stream = pa.CompressedInputStream(file, "gzip") if name != path.name else file
        convert = pa_csv.ConvertOptions(
            column_types=self._types,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        delimiter = "\t" if name.endswith(".tsv") else ","
        parse = pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            ignore_empty_lines=path not in self._narrow,
        )
        return pa_csv.open_csv(
            stream,
            read_options=pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=parse,
            convert_options=convert,
        )


class QueryResult:
    """The rows of a query that DuckDB runs; DuckDB reads files of many formats."""

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
            # Before 1.5, only who holds the connection keeps it open for the rows of a relation.
            self._connection = duckdb.connect()
            relation = self._connection.sql(query)
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


def find_files(
    given: Sequence[str], suffixes: Sequence[str], *, as_plain_files: bool = False
) -> list[Path]:
    """Return the files that paths and patterns name, including all files below folders.

    In folders, names that begin with a dot or an underscore are skipped, as Spark does. Raises
    NotFoundError if a text names no file. Raises InvalidInputError if names of folders hold column
    values, or if a file is in a table of another format, unless `as_plain_files`. Such a table
    keeps files and rows that it has deleted.
    """
    found: list[Path] = []
    seen: set[Path] = set()
    for text in given:
        matches = [Path(name) for name in sorted(glob.glob(text))] or [Path(text)]
        paths = [(path, file) for path in matches for file in _files(path, suffixes)]
        if not paths:
            raise NotFoundError(
                f"There is no file to import at {text}; check the path and its pattern."
            )
        files = [file for _, file in paths]
        if not as_plain_files:
            _refuse_other_tables(files, seen)
        for path, file in paths:
            _refuse_values_in_folders(path, file)
        found += files
    return found


def unified(schemas: Sequence[pa.Schema], paths: Sequence[Path]) -> pa.Schema:
    """Return the common schema of all files. Raises InvalidInputError if there is none."""
    for schema, path in zip(schemas, paths, strict=True):
        name, count = max(Counter(schema.names).items(), key=itemgetter(1), default=("", 0))
        if count > 1:
            raise InvalidInputError(f"{path} has {count} columns named {name!r}; rename them.")
        if "" in schema.names:
            raise InvalidInputError(f"{path} has a column without a name; give it one.")
    try:
        return pa.unify_schemas(
            [pa.schema(map(_stored, schema)) for schema in schemas], promote_options="permissive"
        )
    except pa.ArrowException as error:
        raise InvalidInputError(
            f"The {len(paths)} files from {paths[0]} on have no common schema: {_first_line(error)}"
        ) from error


def _stored(field: pa.Field) -> pa.Field:
    """Return the field without what tables do not store: its dictionary, the zone of instants."""
    if pa.types.is_dictionary(field.type):
        return field.with_type(field.type.value_type)
    if pa.types.is_timestamp(field.type) and field.type.tz is not None:
        return field.with_type(pa.timestamp(field.type.unit, "UTC"))
    return field


def aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Return the batch with the columns of `schema`; columns that it lacks are NULL."""
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
    """Make columns strings if they have no value that tells their type."""
    fields = (f.with_type(pa.string()) if pa.types.is_null(f.type) else f for f in schema)
    return pa.schema(fields)


def _with_instants(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Parse the string columns that `schema` declares as instants."""
    for place, field in enumerate(batch.schema):
        wanted = schema.field(field.name)
        if field.type != wanted.type and pa.types.is_timestamp(wanted.type):
            batch = batch.set_column(place, wanted, _instants(batch.column(place), wanted.type))
    return batch


def _instants(texts: pa.Array, type_: pa.TimestampType) -> pa.Array:
    """Parse ISO 8601 texts as instants. Raises ArrowInvalid for any other text."""
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
        if file.name.lower().endswith(tuple(suffixes)):
            yield file


def _refuse_other_tables(files: Sequence[Path], seen: set[Path]) -> None:
    """Refuse files that are in a folder of another format's table, or anywhere below it.

    Looks at each folder once, and adds it to `seen`. Raises InvalidInputError; StoreError.
    """
    for file in files:
        for folder in (*file.absolute().parents, *file.resolve().parents):
            if folder in seen:
                continue
            seen.add(folder)
            other = format_of(str(folder))
            if other is not None:
                raise InvalidInputError(
                    f"{file} belongs to the {other.name} table {folder}, whose log alone says"
                    f" which files and rows are deleted. Read its live rows with"
                    f" {other.reading.format(table=folder)}, or import all rows of the files, also"
                    " deleted ones, with --as-plain-files."
                )


def _refuse_values_in_folders(path: Path, file: Path) -> None:
    if path != file and any("=" in part for part in file.relative_to(path).parts[:-1]):
        raise InvalidInputError(
            f"The folders of {path} hold column values in their names; import it with --query"
            f" \"SELECT * FROM read_parquet('{path}/**', hive_partitioning = true)\"."
        )


def _footer(path: Path) -> tuple[int, pa.Schema]:
    """Return the number of rows of a Parquet file, and its columns without an unnamed index."""
    with _reading(path), pq.ParquetFile(path) as file:
        return file.metadata.num_rows, without_index(file.schema_arrow)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn an error of Arrow about the content of a file into InvalidInputError with its name."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the operating system's error about the file, not Arrow's about its bytes
        said = _first_line(error)
        if "straddling" in said:
            said = (
                f"it has a row of more than {_BLOCK_BYTES >> 20} MiB, or a quote that is left open."
            )
        raise InvalidInputError(f"{path} cannot be read: {said}") from error


def _not_utf8_error(path: Path, part: str) -> InvalidInputError:
    return InvalidInputError(f"{path} is not UTF-8 in {part}; convert it, for example with iconv.")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0].rstrip(". ") + "."
