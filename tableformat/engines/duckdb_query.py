"""Tables in a connection of DuckDB, and queries over the tables of a database."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.tableformat.engines.dataset import ScanDataset
from colonnade.tableformat.engines.libraries import library

_RESULT = "result of the query"
"""The name of a table that DuckDB makes of a result."""

Parameters = Sequence[Any] | Mapping[str, Any]
"""The values of `?`, or of `$name` by name."""


def view_of(connection: Any | None, name: str, data: ScanDataset) -> Any:
    """Register a dataset as a view of a connection (None: a new one), and return its relation.

    Raises ImportError if DuckDB is not installed; InvalidInputError for another object than a
    connection; the errors of DuckDB.
    """
    if not hasattr(connection, "register") and connection is not None:
        raise InvalidInputError(
            f"to_duckdb takes a connection, such as duckdb.connect(), not {connection!r:.100};"
            " name= is for the name of the view."
        )
    connection = library("duckdb", "to_duckdb").connect() if connection is None else connection
    connection.register(name, data)
    return _kept(connection.view(name), connection)


def query(
    text: str,
    parameters: Parameters | None,
    names: Collection[str],
    dataset_of: Callable[[str], ScanDataset],
) -> Any:
    """Return the `duckdb.DuckDBPyRelation` of a query over the tables with some names.

    The relation reads rows when it is used. With parameters, it holds them in memory.

    `dataset_of` opens a table, and is called for each whose name occurs in the query. A query that
    names none of them, such as SHOW TABLES, has all. As everywhere in DuckDB, upper and lower case
    of names is the same.

    Raises ImportError if DuckDB is not installed, and InvalidInputError with the sentence of DuckDB
    for a query that it refuses. A query that returns no rows, such as COPY, or that has a parameter
    without a value, is refused before it runs.
    """
    if not isinstance(text, str):
        raise InvalidInputError(f"A query is SQL text, not {text!r:.100}.")
    if not isinstance(parameters, Mapping | Sequence | None) or isinstance(parameters, str | bytes):
        raise InvalidInputError(
            "Parameters are a list of the values of each ?, or a dict of those of $name, not"
            f" {parameters!r:.100}."
        )
    duckdb = library("duckdb", "sql")
    connection = duckdb.connect()
    # Otherwise DuckDB would take an unknown name for a variable of Python.
    connection.execute("SET python_enable_replacements = false")
    try:
        statements = connection.extract_statements(text)
        _check_statements(statements, parameters)
        # DuckDB lists the tables of a query only after it has bound their columns.
        lower = text.casefold()
        named = [name for name in names if name.replace('"', '""').casefold() in lower]
        for name in named or names:
            connection.register(name, dataset_of(name))
        is_lazy = statements[-1].type.name == "SELECT" and not parameters
        relation = connection.sql(text) if is_lazy else _run(connection, statements, parameters)
    except duckdb.Error as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInputError(f"DuckDB refuses the query: {reason}") from error
    return _kept(relation, connection)


def _run(connection: Any, statements: Sequence[Any], parameters: Parameters | None) -> Any:
    """Run a query that has parameters or explains another one. Its result is held in memory."""
    *before, last = statements
    for each in before:
        connection.execute(each)
    # `sql` would keep Python's lock while it waits for its threads, and never end if one of these
    # has to give memory of Python back (DuckDB 1.5). `execute` does not keep it.
    if last.type.name != "SELECT":
        return connection.from_arrow(connection.execute(last, parameters).fetch_arrow_table())
    connection.execute(f'CREATE TEMP TABLE "{_RESULT}" AS {last.query}', parameters)
    return connection.table(f'"{_RESULT}"')


def _check_statements(statements: Sequence[Any], parameters: Parameters | None) -> None:
    """Refuse a query whose last statement does more than return rows, or lacks a value."""
    results = [each.name for each in statements[-1].expected_result_type] if statements else []
    if results != ["QUERY_RESULT"]:
        raise InvalidInputError("The query returns no rows; give a SELECT.")
    names = parameters if isinstance(parameters, Mapping) else range(1, len(parameters or ()) + 1)
    given = {str(each).casefold() for each in names}
    for name in sorted(statements[-1].named_parameters):
        if name.casefold() not in given:
            raise InvalidInputError(f"Parameter {name!r} of the query has no value; give it one.")


def _kept(relation: Any, connection: Any) -> Any:
    """Keep a connection open as long as its relation: before DuckDB 1.5, that did not do it."""
    weakref.finalize(relation, lambda _: None, connection)
    return relation
