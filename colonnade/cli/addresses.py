"""Hand each command the address of its database or table, with the options of the store.

    --storage-option          one option of the store; other users see it in the list of processes
    COLONNADE_STORAGE_OPTIONS all options of the store as a JSON object, for secrets

Guide: docs/command-line.md#options-of-the-store
"""

from __future__ import annotations

import functools
import inspect
import json
import os
from collections.abc import Callable, Sequence
from typing import Annotated, Any, get_args

import typer

from colonnade.cli.added_option import with_option
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress
from colonnade.manifests.store.option_text import option_value

VARIABLE = "COLONNADE_STORAGE_OPTIONS"

_STORAGE_OPTION = Annotated[
    list[str] | None,
    typer.Option(
        "--storage-option",
        metavar="NAME=VALUE",
        help="An option of a store that is not local, such as endpoint_url; may be repeated. Other"
        f" users see it in `ps`, so give secrets as JSON in the variable {VARIABLE}.",
    ),
]


def addressed(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with `--storage-option`, for the command line to call.

    The command line gives texts; where the command declares a StoreAddress, it gets the address.
    The call raises the errors of `address_of`.
    """
    # `get_type_hints` of Python 3.10 wraps a type whose default is None, and so hides the argument.
    parameters = inspect.signature(command, eval_str=True).parameters.values()
    places = [each.name for each in parameters if _is_address(each.annotation)]

    @functools.wraps(command)
    def run(*, storage_option: Sequence[str] | None = None, **arguments: Any) -> None:
        for name in places:
            if arguments[name] is not None:
                arguments[name] = address_of(arguments[name], storage_option or ())
        command(**arguments)

    typed = [each.replace(annotation=_as_text(each.annotation)) for each in parameters]
    return with_option(run, typed, "storage_option", _STORAGE_OPTION, None)


def address_of(path: str, given: Sequence[str] = ()) -> StoreAddress:
    """Return the address of a path, with its storage options.

    Options on the command line take precedence over those of the variable, which a local path does
    not use.

    Raises InvalidInputError for a text that is not a path, for malformed options, and for options
    on the command line beside a local path. No error shows a value.
    """
    return StoreAddress.of(path, _given(given), _of_variable)


def _given(texts: Sequence[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InvalidInputError(
                "A --storage-option has no name or no value; write it like key=AKIA…."
            )
        if name in options:
            raise InvalidInputError(f"--storage-option {name} is given twice; give it once.")
        options[name] = option_value(name, value)
    return options


def _of_variable() -> dict[str, Any]:
    text = os.environ.get(VARIABLE, "")
    if not text:
        return {}
    try:
        options = json.loads(text)
    except ValueError:
        options = None
    if not isinstance(options, dict):
        # Without a cause, because the cause would show the text.
        raise InvalidInputError(
            f'{VARIABLE} is not a JSON object; write it like {{"key": "AKIA…"}}.'
        ) from None
    return options


def _is_address(hint: Any) -> bool:
    kind = get_args(hint)[0] if hasattr(hint, "__metadata__") else hint
    return kind is StoreAddress or StoreAddress in get_args(kind)


def _as_text(hint: Any) -> Any:
    """Return the type that the command line parses: a text for an address."""
    if not _is_address(hint):
        return hint
    kind, *metadata = get_args(hint)
    typed = (str if kind is StoreAddress else str | None, *metadata)
    return Annotated[typed]
