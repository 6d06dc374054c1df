"""Names that users import, and times without a zone: what they are taken for."""

from __future__ import annotations

import builtins
import copy
import inspect
import pickle
import typing
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import colonnade
from colonnade import col

NAMES = dir(colonnade)


def test_a_star_import_replaces_no_name_of_python() -> None:
    there: dict[str, Any] = {}
    exec("from colonnade import *", there)
    taken = {name for name in there if hasattr(builtins, name) and not name.startswith("__")}
    assert taken == set()


@pytest.mark.parametrize("name", NAMES)
def test_a_public_class_says_that_it_is_of_colonnade(name: str) -> None:
    found = getattr(colonnade, name)
    if isinstance(found, type):
        assert (found.__module__, found.__qualname__) == ("colonnade", name)
        assert pickle.loads(pickle.dumps(found)) is found


@pytest.mark.parametrize("name", [each for each in NAMES if each.endswith("Error")])
def test_an_error_is_shown_by_the_name_that_users_catch_and_can_be_copied(name: str) -> None:
    error = getattr(colonnade, name)("it failed")
    assert repr(type(error)) == f"<class 'colonnade.{name}'>"
    again = pickle.loads(pickle.dumps(copy.copy(error)))
    assert (type(again), str(again)) == (type(error), str(error))


def shown_members(found: type) -> Iterator[tuple[str, Any]]:
    """What completion and the reference show of a class, besides fields: our own functions."""
    for name in dir(found):
        member = inspect.getattr_static(found, name)
        inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if name[0] != "_" and str(getattr(inner, "__module__", "")).startswith("colonnade"):
            yield name, inner


def classes_in(hint: Any) -> Iterator[type]:
    if isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


@pytest.mark.parametrize("name", colonnade.__all__)
def test_what_completion_shows_is_explained_and_leads_to_public_classes_alone(name: str) -> None:
    """A method that returns an object of the engine is for the engine, and begins with `_`."""
    found = getattr(colonnade, name)
    members = shown_members(found) if isinstance(found, type) else [(name, found)]
    for member, function in members:
        if not callable(function):
            continue
        assert inspect.getdoc(function), f"{name}.{member} has no docstring"
        returned = typing.get_type_hints(function).get("return")
        hidden = [each for each in classes_in(returned) if each.__module__.startswith("colonnade.")]
        assert hidden == [], f"{name}.{member} returns what no page explains"


def test_each_public_handle_has_a_reference_of_its_methods() -> None:
    """Completion, the reference and `__all__` name the same: the page shows all but `_` names."""
    settings = (Path(__file__).parents[1] / "docs" / "site" / "mkdocs.yml").read_text("utf-8")
    assert 'filters: ["!^_"]' in settings
    assert "inherited_members: true" in settings


LOCAL = datetime(2026, 1, 1, 12)
SCHEMA = pa.schema([pa.field("at", pa.timestamp("us", "UTC"), False), ("n", pa.int64())])


def _table(folder: Path) -> colonnade.ArrowTable:
    table = colonnade.create(folder / "t", SCHEMA, primary_key=["at"])
    table.append(pa.table({"at": [LOCAL.replace(tzinfo=timezone.utc)], "n": [1]}, SCHEMA))
    return table


WAYS: dict[str, Any] = {
    "comparison": lambda table, at: table.scan(where=col("at") == at).to_arrow(),
    "list": lambda table, at: table.scan(where=col("at").isin([at])).to_arrow(),
    "between": lambda table, at: table.scan(where=col("at").between(at, at)).to_arrow(),
    "delete": lambda table, at: table.delete(col("at") == at),
    "delete_range": lambda table, at: table.delete_range(col("at") < at),
    "overwrite": lambda table, at: table.overwrite(table.scan().to_arrow(), col("at") <= at),
    "get": lambda table, at: table.get(at),
    "get of many": lambda table, at: table.get([at]),
    "update": lambda table, at: table.update({"at": at}),
    "default": lambda table, at: table.alter(colonnade.SetDefault("at", at)),
    "append": lambda table, at: table.append(pa.table({"at": [at], "n": [2]})),
    "delete_keys": lambda table, at: table.delete_keys(pa.table({"at": [at]})),
    "timestamp": lambda table, at: table.scan(timestamp=at).to_arrow(),
    "seen_at": lambda table, at: table.scan(seen_at=at).to_arrow(),
    "restore": lambda table, at: table.restore(timestamp=at),
}


@pytest.mark.parametrize(
    "taker",
    [
        *(
            getattr(colonnade.ArrowTable, name)
            for name in (
                "scan", "get", "restore", "delete", "delete_range", "overwrite",
                "update", "add_column", "backfill",
            )
        ),
        colonnade.ArrowDatabase.restore,
        colonnade.SetDefault,
        col,
        colonnade.Table.restoreToTimestamp,
        colonnade.Database.restoreToTimestamp,
    ],
)  # fmt: skip
def test_what_takes_a_time_says_in_its_docstring_what_its_zone_is(taker: Any) -> None:
    assert "zone" in taker.__doc__


@pytest.mark.parametrize("way", WAYS)
def test_a_time_without_a_zone_is_refused_where_an_instant_is_wanted(
    tmp_path: Path, way: str
) -> None:
    table = _table(tmp_path)
    epoch = table.refresh().epoch
    with pytest.raises(colonnade.InvalidInputError, match="no time zone|a time zone"):
        WAYS[way](table, LOCAL)
    assert table.refresh().epoch == epoch


@pytest.mark.parametrize("way", [each for each in WAYS if each not in ("update", "append")])
def test_a_time_with_a_zone_is_taken(tmp_path: Path, way: str) -> None:
    table = _table(tmp_path)
    aware = datetime.now(timezone(timedelta(hours=5))) + timedelta(seconds=1)
    WAYS[way](table, aware)
