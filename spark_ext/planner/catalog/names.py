"""Find what names of a statement lead to, whatever their case, as in Delta Lake and in Hive.

An exact name comes first. Spark asks only where `spark.sql.caseSensitive` is off.
"""

from __future__ import annotations

from collections.abc import Iterable

from colonnade.manifests.errors import (
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.planner.catalog.databases import databases_in
from colonnade.spark_ext.planner.messages.base import Name, operation
from colonnade.spark_ext.planner.messages.catalog import DatabaseInItsCase, TableInItsCase
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place


@operation
def database_in_its_case(request: DatabaseInItsCase) -> Name:
    """Return a name that leads to no database unchanged.

    Raises InvalidInputError for a name that leads to several databases.
    """
    name = request.name
    if _state(f"{request.warehouse}/{name}", request.query) is not None:
        return Name(name=name)
    try:
        names = databases_in(request.warehouse)
    except InvalidInputError:
        return Name(name=name)  # The place cannot be a warehouse, which the statement will say.
    return Name(name=_in_its_case(name, names))


@operation
def table_in_its_case(request: TableInItsCase) -> Name:
    """Return and raise as `database_in_its_case`."""
    name, state = request.name, _state(request.path, request.query)
    if state is None or state.lone_table or state.find_table(name) is not None:
        return Name(name=name)
    return Name(name=_in_its_case(name, state.own_names().values()))


def _state(path: str, query: int | None) -> Snapshot | None:
    """Return the state of a database; None without one that can be read, as statements will say."""
    try:
        location, state = SNAPSHOTS.try_head(place(path), query)
    except (NotFoundError, InvalidInputError, CorruptionError, UnsupportedFormatError):
        return None
    return state if location.table is None else None


def _in_its_case(name: str, names: Iterable[str]) -> str:
    found = sorted(each for each in names if each.casefold() == name.casefold())
    if name in found or not found:
        return name
    if len(found) > 1:
        raise InvalidInputError(
            f"Name {name!r} could be any of {', '.join(found)}; write the name as it is."
        )
    return found[0]
