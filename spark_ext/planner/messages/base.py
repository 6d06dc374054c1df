"""What a message is, and how a function from request to reply becomes an operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Generic, TypeVar, get_type_hints

from pydantic import ConfigDict, ValidationError

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.schema import Model


class Message(Model):
    """Base of all requests, replies and their parts: frozen, and closed to unknown fields.

    Neither their text nor an error about one shows values, because storage options hold secrets.
    """

    # The lists of JSON are tuples here.
    model_config = ConfigDict(strict=False, hide_input_in_errors=True)

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        return []


class Request(Message):
    """A request that changes something. The jar may send it again, so it is safe to run twice."""


class Question(Request):
    """A request that changes no table. After any other one, queries look for newer epochs again."""


class OneTimeRequest(Request):
    """A request that the jar never sends twice, because its second run would do something else."""


class Done(Message):
    """The reply to a request that has nothing to say."""


class Answer(Message):
    """Yes or no."""

    yes: bool


class Name(Message):
    """One name."""

    name: str


class Names(Message):
    """Several names."""

    names: tuple[str, ...]


class Rows(Message):
    """Rows of Spark's internal values, as lists."""

    rows: Any


_Request = TypeVar("_Request", bound=Request)
_Reply = TypeVar("_Reply", bound=Message)


@dataclass(frozen=True, slots=True)
class Operation(Generic[_Request, _Reply]):
    """A function from a request to its reply, which is called with the JSON of the request."""

    request: type[_Request]
    reply: type[_Reply]
    run: Callable[[_Request], _Reply]

    @property
    def name(self) -> str:
        """The name in the protocol: that of the request, in lower case."""
        return re.sub(r"(?<=.)([A-Z])", r"_\1", self.request.__name__).lower()

    def __call__(self, args: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to the request with the fields `args`, as the dict of a JSON object.

        Raises InvalidInputError that names operation and field for a malformed request, and the
        errors of the function.
        """
        try:
            request = self.request.model_validate(args)
        except ValidationError as error:
            raise malformed(f"Request {self.name!r}", error) from error
        return self.run(request).model_dump(mode="json")


def malformed(what: str, error: ValidationError) -> InvalidInputError:
    """Return the error for what the jar should not have sent."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return InvalidInputError(
        f"{what} to the planner is malformed: field {field!r}: {first['msg']}; install the jar and"
        " the Python package in one version."
    )


def operation(function: Callable[[_Request], _Reply]) -> Operation[_Request, _Reply]:
    """Make an operation of a function, whose annotations say what its messages are."""
    hints = get_type_hints(function)
    reply = hints.pop("return")
    [request] = hints.values()
    return Operation(request, reply, function)


def operations_of(*modules: ModuleType) -> dict[str, Operation[Any, Any]]:
    """Return the operations in modules by their names in the protocol."""
    found = (each for module in modules for each in vars(module).values())
    return {each.name: each for each in found if isinstance(each, Operation)}
