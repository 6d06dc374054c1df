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


PUBLIC = {name: getattr(colonnade, name) for name in NAMES}
CLASSES = [name for name in NAMES if isinstance(PUBLIC[name], type)]


def shown_names(found: type) -> list[str]:
    return [name for name in dir(found) if not name.startswith("_")]


def shown_functions(found: type) -> Iterator[tuple[str, Any]]:
    """The methods of a class that completion and the reference show, and what reads properties."""
    for name in shown_names(found):
        member = inspect.getattr_static(found, name)
        inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
        if inspect.isfunction(inner) and inner.__module__.startswith("colonnade"):
            yield name, inner


def classes_in(hint: Any) -> Iterator[type]:
    if typing.is_typeddict(hint):  # the keywords of a function
        for part in typing.get_type_hints(hint).values():
            yield from classes_in(part)
    elif isinstance(hint, type):
        yield hint
    for part in typing.get_args(hint):
        yield from classes_in(part)


def hidden_in(hint: Any) -> list[type]:
    """The classes of the engine that a type names."""
    return [each for each in classes_in(hint) if each.__module__.startswith("colonnade.")]


def is_for_the_engine(hint: Any) -> bool:
    """Whether only an object of the engine can be given, which no public class is a kind of."""
    given = [*classes_in(hint)]
    public = [each for each in PUBLIC.values() if isinstance(each, type)]
    hidden = [each for each in hidden_in(hint) if not any(issubclass(one, each) for one in public)]
    return given != [] and hidden == given


@pytest.mark.parametrize("name", CLASSES)
def test_completion_shows_of_a_class_what_is_ours_or_pythons_and_nothing_else(name: str) -> None:
    """A class of a library below it, such as pydantic, brings names that no page explains."""
    found = PUBLIC[name]
    owners = {
        shown: next(each for each in found.__mro__ if shown in vars(each))
        for shown in shown_names(found)
    }
    modules = {owner.__module__.partition(".")[0] for owner in owners.values()}
    assert modules <= {"colonnade", "builtins"}, owners


def test_completion_shows_the_fields_of_a_model_and_not_what_pydantic_makes_of_them() -> None:
    shown = [name for name in dir(colonnade.WriteSettings()) if not name.startswith("_")]
    assert shown == sorted(typing.get_type_hints(colonnade.WriteSettings).keys() - {"model_config"})
    assert "target_bytes" in shown


@pytest.mark.parametrize("name", NAMES)
def test_what_completion_shows_is_explained_and_leads_to_public_classes_alone(name: str) -> None:
    """A method that takes or returns an object of the engine is for the engine: it begins with `_`.

    This holds for fields, too.
    """
    found = PUBLIC[name]
    is_class = isinstance(found, type)
    for member, function in shown_functions(found) if is_class else [(name, found)]:
        if not callable(function):
            continue
        assert inspect.getdoc(function), f"{name}.{member} has no docstring"
        hints = typing.get_type_hints(function)
        assert hidden_in(hints.pop("return", None)) == [], f"{name}.{member}"
        assert [each for each in hints if is_for_the_engine(hints[each])] == [], f"{name}.{member}"
    fields = typing.get_type_hints(found) if is_class else {}
    assert [each for each in fields if each[0] != "_" and hidden_in(fields[each])] == []


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
