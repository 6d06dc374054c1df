"""Both sides of the protocol are the same messages, and a malformed one is refused by name."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import ValidationError

from colonnade.manifests.clock import AgreedTime
from colonnade.manifests.errors import InvalidInputError
from colonnade.spark_ext.planner.messages import (
    base,
    catalog,
    changes,
    clauses,
    envelope,
    feed,
    procedures,
    queries,
    rewrites,
    streams,
    views,
    writes,
)
from colonnade.spark_ext.planner.messages.base import Message, OneTimeRequest, Question, Request
from colonnade.spark_ext.planner.operations import OPS
from colonnade.spark_ext.planner.read.load import load
from colonnade.tableformat.streams.admission import Limits
from colonnade.tableformat.streams.backlog import Backlog
from colonnade.tableformat.streams.source import StreamRules

JAVA = Path(__file__).parents[3] / "spark_ext/java/src/colonnade/planner/messages"
AREAS = {
    "Replies": base,
    "Catalog": catalog,
    "Changes": changes,
    "Clauses": clauses,
    "Envelope": envelope,
    "Feed": feed,
    "Procedures": procedures,
    "Queries": queries,
    "Rewrites": rewrites,
    "Streams": streams,
    "Views": views,
    "Writes": writes,
}
"""The file of the jar with the messages of each module."""

BASES = {Message, Request, Question, OneTimeRequest, writes.Commit}
PLAIN = {str: "String", bool: "boolean", int: "long", Any: "JsonNode"}
BOXED = {"boolean": "Boolean", "long": "Long"}

Record = tuple[str, tuple[str, ...]]
"""What a record implements, and its components."""


def messages() -> Iterator[tuple[str, type[Message]]]:
    """All messages of Python, with the names of their records."""
    for area, module in AREAS.items():
        for each in vars(module).values():
            if not inspect.isclass(each) or not issubclass(each, Message) or each in BASES:
                continue
            if each.__module__ == module.__name__:
                yield area if area == each.__name__ else f"{area}.{each.__name__}", each


PARTS = {
    AgreedTime: "Views.AgreedTime",
    Backlog: "Streams.Backlog",
    Limits: "Streams.Limits",
    StreamRules: "Streams.StreamRules",
}
"""Values of lower layers that are parts of messages."""
NAMES = {**{message: name for name, message in messages()}, **PARTS}
REPLIES = {op.request: op.reply for op in OPS.values()}


def java_type(hint: Any) -> str:
    """The type of a component for a field of Python; `?` marks one that may be null."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if hint in NAMES:
        return NAMES[hint]
    if origin is Literal:
        return "String"
    if origin is Annotated:
        return "Changes.Change"
    if origin in (Union, types.UnionType):
        assert parts[1:] == (type(None),), hint
        return boxed(parts[0]) + "?"
    if origin is tuple:
        assert parts[1:] == (...,), hint
        return f"List<{boxed(parts[0])}>"
    assert issubclass(origin, Mapping), hint
    return f"Map<{boxed(parts[0])}, {boxed(parts[1])}>"


def boxed(hint: Any) -> str:
    plain = java_type(hint).removesuffix("?")
    return BOXED.get(plain, plain)


def expected(message: type[Message]) -> Record:
    hints = get_type_hints(message, include_extras=True)
    fields = [
        f"{java_type(hints[name])} {camel(name)}"
        for name in message.model_fields
        if not (name == "kind" and message.__module__ == changes.__name__)
    ]
    if message.__module__ == changes.__name__:
        return "Change", tuple(fields)
    kind = next(
        (each for each in (Question, OneTimeRequest, Request) if issubclass(message, each)), None
    )
    return (f"{kind.__name__}<{NAMES[REPLIES[message]]}>" if kind else ""), tuple(fields)


def camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(map(str.title, rest))


RECORD = re.compile(r"public record (\w+)\(([^)]*)\)\s*(?:implements ([^{]*?))?\s*\{")


def records() -> Iterator[tuple[str, Record]]:
    """All records of the jar, in the same form."""
    for area in AREAS:
        text = re.sub(r"/\*.*?\*/", "", (JAVA / f"{area}.java").read_text(), flags=re.DOTALL)
        for name, inside, implemented in RECORD.findall(text):
            full = name if name == area else f"{area}.{name}"
            yield full, (qualified(implemented, area), components(inside, area))


def components(text: str, area: str) -> tuple[str, ...]:
    found = []
    for part in re.split(r",\s*(?![^<>]*>)", text.strip()):
        if part:
            nullable, kind, name = re.fullmatch(r"(@Nullable )?(.*) (\w+)", part).groups()  # type: ignore[union-attr]
            may_be_null = nullable or kind in BOXED.values()
            found.append(f"{qualified(kind, area)}{'?' if may_be_null else ''} {name}")
    return tuple(found)


def qualified(text: str, area: str) -> str:
    """A type in which each message has the name of its file before it, as elsewhere."""
    own = {name.removeprefix(f"{area}.") for name in NAMES.values() if name.startswith(f"{area}.")}
    if area == "Changes":
        own = set()
    return re.sub(r"(?<![\w.])(\w+)", lambda m: f"{area}.{m[1]}" if m[1] in own else m[1], text)


def test_each_message_is_a_record_of_the_same_fields() -> None:
    python = {name: expected(message) for name, message in messages()}
    java = dict(records())
    for part, name in PARTS.items():
        python[name] = (
            "",
            tuple(
                f"{java_type(hint)} {camel(each)}" for each, hint in get_type_hints(part).items()
            ),
        )
    assert java.keys() == python.keys()
    for name, record in python.items():
        assert java[name] == record, name


def test_every_request_is_an_operation() -> None:
    requests = {message for _, message in messages() if issubclass(message, Request)}
    assert requests == set(REPLIES)
    assert all(name == op.name for name, op in OPS.items())
    assert OPS["database_in_its_case"].request is catalog.DatabaseInItsCase


def test_a_change_is_called_as_its_class_is() -> None:
    for change in get_args(get_args(changes.Change)[0]):
        named = re.sub(r"(?<=.)([A-Z])", r"_\1", change.__name__).lower()
        assert change.model_fields["kind"].default == named


@pytest.mark.parametrize(
    ("args", "field"),
    [
        ({"options": {}}, "'path'"),
        ({"path": "/t", "options": {}, "epoch": 7}, "'epoch'"),
        ({"path": "/t", "options": {"epoch": []}}, "'options.epoch'"),
        ([], "''"),
    ],
)
def test_a_malformed_request_is_refused_by_its_operation_and_field(args: Any, field: str) -> None:
    with pytest.raises(InvalidInputError, match=f"Request 'load' .* is malformed: field {field}"):
        load(args)


@pytest.mark.parametrize(
    "wrong", [{"storage": {"key": {"s3cret": 1}}}, {"hadoop": {"key": 731731}}]
)
def test_no_error_about_a_message_shows_secrets(wrong: dict[str, Any]) -> None:
    sent = {"id": 1, "op": "load", "args": {}, "storage": {"key": "s3cret"}}
    with pytest.raises(ValidationError) as failed:
        envelope.Envelope.model_validate({**sent, **wrong})
    with pytest.raises(InvalidInputError) as refused:
        load({"path": "/t", "options": {"storage.key": 731731}})
    for error in (failed.value, refused.value, refused.value.__cause__):
        assert not re.search("s3cret|731731", f"{error} {error!r}")


def test_the_text_of_a_message_shows_no_secrets() -> None:
    options = {"storage.key": "s3cret"}
    sent = envelope.Envelope(id=1, op="load", args={"options": options}, storage=options)
    for message in (sent, queries.Load(path="/t", options=options)):
        assert "s3cret" not in f"{message} {message!r}"


def test_messages_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        base.Answer(yes=True).yes = False
