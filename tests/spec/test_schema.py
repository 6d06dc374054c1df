"""The JSON Schema of stored objects is up to date, and golden databases keep it."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from colonnade.manifests.errors import CorruptionError, UnsupportedFormatError
from colonnade.manifests.model.codec import decode_model, seal, unseal
from tests.spec.make_schema import PATH, SEALED, json_schema

GOLDEN = Path(__file__).parent / "golden"
KINDS = [model.__name__ for model in SEALED]
ENVELOPE = re.compile(rb'\{"crc32c":"[0-9a-f]{8}","body":.*?\}\}\n', re.DOTALL)


@cache
def validator(kind: str) -> Draft202012Validator:
    """What checks one kind of object by the file."""
    schema = json.loads(PATH.read_text("utf-8"))
    return Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]})


def bodies(data: bytes) -> Iterator[dict[str, Any]]:
    """The bodies of the sealed objects in a file, and in the RowSets and pages inside of it."""
    for found in ENVELOPE.findall(data):
        body = json.loads(unseal(found, "a golden file"))
        yield body
        for operation in body.get("ops", ()):
            entry = operation.get("rowset")
            if isinstance(entry, dict) and entry["place"] == "inline":
                yield from bodies(base64.b64decode(entry["data"]))


def kinds_of(body: dict[str, Any]) -> list[str]:
    return [kind for kind in KINDS if validator(kind).is_valid(body)]


@cache
def golden() -> dict[Path, list[dict[str, Any]]]:
    """The bodies of all golden files. What tests expect of a database is no part of it."""
    files = [path for path in sorted(GOLDEN.rglob("*")) if path.is_file()]
    expected = ("states.json", "entries.json")
    return {path: [*bodies(path.read_bytes())] for path in files if path.name not in expected}


def test_the_schema_is_what_the_models_say() -> None:
    made = json.loads(PATH.read_text("utf-8"))
    assert made == json_schema(), "make it anew by python -m tests.spec.make_schema"
    Draft202012Validator.check_schema(json_schema())


@pytest.mark.parametrize("folder", sorted(GOLDEN.iterdir()), ids=lambda folder: folder.name)
def test_each_sealed_object_of_a_golden_database_is_of_one_kind(folder: Path) -> None:
    inside = {path: each for path, each in golden().items() if path.is_relative_to(folder)}
    wrong = {
        str(path.relative_to(folder)): (kinds, body)
        for path, found in inside.items()
        for body in found
        if len(kinds := kinds_of(body)) != 1
    }
    assert wrong == {}


@pytest.mark.slow
def test_golden_databases_have_every_kind_of_object_and_every_json_file_has_one() -> None:
    every = golden()
    assert {kinds_of(body)[0] for found in every.values() for body in found} == {*KINDS}
    assert [path for path, found in every.items() if path.suffix == ".json" and not found] == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_refuses_an_unknown_key_and_the_lack_of_a_required_one(kind: str) -> None:
    found = (body for each in golden().values() for body in each)
    body = next(each for each in found if kinds_of(each) == [kind])
    assert not validator(kind).is_valid({**body, "later": 1})
    required = json.loads(PATH.read_text("utf-8"))["$defs"][kind]["required"]
    assert "format_version" in required
    for key in required:
        assert not validator(kind).is_valid({k: v for k, v in body.items() if k != key})


def test_every_object_of_the_schema_is_closed_but_what_only_writers_need() -> None:
    models = json.loads(PATH.read_text("utf-8"))["$defs"]
    assert len(models) > 50
    open_ones = ["RootWriter", "TableWriter"]
    assert [
        name for name, each in models.items() if each.get("additionalProperties", 1)
    ] == open_ones


def with_nulls(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """A JSON value as it is with null under one of its keys, for each of them, with the path."""
    pairs: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        pairs = enumerate(value)
    for key, inner in pairs:
        kind = inner.get("op", "*") if isinstance(inner, dict) else "*"
        here = (*path, str(key) if isinstance(value, dict) else kind)
        others = list(value) if isinstance(value, list) else dict(value)
        if isinstance(value, dict):
            yield here, {**value, key: None}
        for below, changed in with_nulls(inner, here):
            others[key] = changed
            yield below, others


@pytest.mark.slow
def test_no_key_of_a_golden_object_may_be_null() -> None:
    """Neither for the schema nor for a reader, whatever the key is."""
    models = {model.__name__: model for model in SEALED}
    tried: set[tuple[str, ...]] = set()
    for body in (body for found in golden().values() for body in found):
        [kind] = kinds_of(body)
        for path, changed in with_nulls(body):
            named = (kind, *("#" if key.isdecimal() else key for key in path))
            if named in tried:
                continue
            tried.add(named)
            assert not validator(kind).is_valid(changed), named
            with pytest.raises((CorruptionError, UnsupportedFormatError)):
                decode_model(models[kind], seal(json.dumps(changed).encode()), "an object")
    assert len(tried) > 500
