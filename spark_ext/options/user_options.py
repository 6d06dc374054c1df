"""The options that a user has given, by name, and the table that they are for."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.sizes import parse_size
from colonnade.manifests.store import StoreAddress, is_url
from colonnade.manifests.store.option_text import option_texts, option_values
from colonnade.spark_ext.options.names import name_error
from colonnade.tableformat.table.design.other_formats import without_peer_words

NEEDS_JAR = "needs the jar, which colonnade.enable(spark) adds to a session."
_OF_CATALOG = "owner"
"""An option that Spark's own catalog adds; the jar removes it, so here the jar is missing."""
_STORAGE = "storage."
"""The prefix of options for the store: `storage.key` is the storage option `key`."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """The table at `path`, and the options of its store, as its fsspec library names them."""

    path: str
    storage: Mapping[str, Any] = field(default_factory=dict, repr=False, kw_only=True)

    @property
    def address(self) -> StoreAddress:
        """The path with its storage options. Raises InvalidInputError."""
        return StoreAddress.of(self.path, self.storage)


@dataclass(frozen=True, slots=True)
class UserOptions:
    """The options that a user has given. A name is found in any case.

    Methods return None for an option that is not given, unless there is a default. They raise
    InvalidInputError that names the option for a text that does not fit.
    """

    path: str
    texts: Mapping[str, str]
    storage: Mapping[str, Any]

    @classmethod
    def among(
        cls, options: Mapping[str, str], allowed: tuple[str, ...], purpose: str
    ) -> UserOptions:
        """Return the options of a table. Raises InvalidInputError without a path.

        Raises it for an option that is not `allowed` for the `purpose`, too.
        """
        given = {
            key.lower(): value
            for key, value in options.items()
            if not key.lower().startswith(_STORAGE)
        }
        if "paths" in given:
            raise InvalidInputError(
                "Colonnade reads one table at a time; load each path by itself."
            )
        if _OF_CATALOG in given:
            raise InvalidInputError(f"A Colonnade table in a catalog {NEEDS_JAR}")
        path = given.pop("path", "")
        if not path:
            raise InvalidInputError(
                "No path was given: name the table, as in .load(path). A table in a catalog"
                f" {NEEDS_JAR}"
            )
        _refuse_lost_folder(path)
        known = {name.lower() for name in allowed}
        others = without_peer_words(
            {name: value for name, value in given.items() if name not in known}, "Option"
        )
        for key in others:
            raise name_error(key, allowed, purpose)
        texts = {name: value for name, value in given.items() if name in known}
        return cls(path, texts, storage_of(options))

    def __contains__(self, name: str) -> bool:
        return name.lower() in self.texts

    def text(self, name: str) -> str | None:
        """Return the text of an option."""
        return self.texts.get(name.lower())

    def truth(self, name: str, default: bool) -> bool:
        """Return an option that is true or false."""
        text = self.text(name)
        return default if text is None else truth(f"Option {name}", text)

    def integer(self, name: str, least: int) -> int | None:
        """Return an option that is a whole number."""
        text = self.text(name)
        if text is None:
            return None
        if not re.fullmatch(r"\s*\d{1,18}\s*", text, re.ASCII) or int(text) < least:
            raise InvalidInputError(
                f"Option {name} must be a whole number from {least}, not {text!r}."
            )
        return int(text)

    def byte_size(self, name: str) -> int | None:
        """Return an option that is a number of bytes, or text such as `64m`."""
        text = self.text(name)
        if text is None:
            return None
        try:
            size = parse_size(text)
        except ValueError:
            size = 0
        if size < 1:
            raise InvalidInputError(
                f"Option {name} must be a number of bytes, or like 64m or 1g, not {text!r}."
            )
        return size


def storage_of(options: Mapping[str, str]) -> dict[str, Any]:
    """Return the options of the store among those of a read or write, without their prefix.

    Raises InvalidInputError that names the option whose text is not valid.
    """
    return option_values(
        {
            key[len(_STORAGE) :]: value
            for key, value in options.items()
            if key.lower().startswith(_STORAGE)
        }
    )


def storage_texts(address: StoreAddress) -> dict[str, str]:
    """Return the options of a store as those of a read or write, for `storage_of`.

    They may hold secrets. Raises InvalidInputError that names an option without a text.
    """
    texts = option_texts(address.storage_options)
    return {f"{_STORAGE}{name}": text for name, text in texts.items()}


def truth(what: str, text: str) -> bool:
    """Return whether a text says true.

    Raises InvalidInputError that names `what` for a text that says neither true nor false.
    """
    if text.strip().lower() not in ("true", "false"):
        raise InvalidInputError(f"{what} must be true or false, not {text!r}.")
    return text.strip().lower() == "true"


def _refuse_lost_folder(path: str) -> None:
    """Refuse a relative path on Spark Connect.

    Its server runs Python in a temporary folder of the session, named by the session's id. Files
    written there are deleted with the session.
    """
    session = os.environ.get("SPARK_JOB_ARTIFACT_UUID")
    relative = not path.startswith(("/", "~")) and not is_url(path)
    if relative and session is not None and session in os.getcwd():
        raise InvalidInputError(
            f"{path!r} is a relative path, which a Spark Connect server cannot resolve; give an"
            " absolute path."
        )
