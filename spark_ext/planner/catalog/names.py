"""Find what names of a statement lead to, whatever their case, as in Delta Lake and in Hive.

A name that is written as it is comes first. Spark asks only where `spark.sql.caseSensitive` is off.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from colonnade.manifests.errors import (
    CorruptionError,
    InvalidInputError,
    NotFoundError,
    UnsupportedFormatError,
)
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.spark_ext.planner.catalog.databases import list_databases
from colonnade.spark_ext.planner.state.snapshots import SNAPSHOTS
from colonnade.spark_ext.planner.state.storage import place

Args = Mapping[str, Any]


def database_in_its_case(args: Args) -> dict[str, Any]:
    """Return the `name` of a database in the folder `warehouse` as it is.

    A name that leads to no database is returned unchanged. `query` is as in `load.load`. Raises
    InvalidInputError for a name that leads to several databases.
    """
    name = args["name"]
    if _state(f"{args['warehouse']}/{name}", args) is not None:
        return {"name": name}
    try:
        names = list_databases(args)["databases"]
    except InvalidInputError:
        return {"name": name}  # The place cannot be a warehouse, which the statement will say.
    return {"name": _in_its_case(name, names)}


def table_in_its_case(args: Args) -> dict[str, Any]:
    """Return the `name` of a table in the database at `path` as it is.

    Returns and raises as `database_in_its_case`.
    """
    name, state = args["name"], _state(args["path"], args)
    if state is None or state.lone_table or state.find_table(name) is not None:
        return {"name": name}
    return {"name": _in_its_case(name, state.own_names().values())}


def _state(path: str, args: Args) -> Snapshot | None:
    """Return the state of a database; None without one that can be read, as statements will say."""
    try:
        location, state = SNAPSHOTS.try_head(place(path), args.get("query"))
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


OPS = {"database_in_its_case": database_in_its_case, "table_in_its_case": table_in_its_case}
