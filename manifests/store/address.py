"""Where a store is: a URL that anyone may see, and a reference to its options.

Options of a store hold credentials. Jobs, plans, errors and logs therefore name the options and
never hold them. Each process keeps a registry from names to options. An address that is pickled
takes its options along; as JSON, and as text, it has only their name.

Spec: docs/stores.md#addresses
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.option_names import with_own_names
from colonnade.manifests.store.path_text import local_path
from colonnade.manifests.store.user_file_systems import check_pickles, url_in

_AUTHORITY = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/@]*@)?")
_CONTAINERS = frozenset(("az", "abfs", "abfss", "wasb", "wasbs"))
"""Schemes of Azure, in whose URLs `container@account` names a place and no user."""

CACHE_OPTIONS = frozenset(("cache", "cache_bytes"))
"""Storage options of Colonnade itself, which no library that connects to a store gets."""


@dataclass(frozen=True, slots=True)
class StoreAddress:
    """A URL or path without credentials, and the name of the store's options (None: no options).

    Addresses of one process are equal if their URLs and options are. `repr` shows no option. A
    pickled address registers its options in the process that loads it.
    """

    url: str
    options: str | None = None

    @classmethod
    def of(
        cls,
        path: str | os.PathLike[str] | StoreAddress,
        storage_options: Mapping[str, Any] | None = None,
        defaults: Callable[[], Mapping[str, Any]] | None = None,
        filesystem: Any = None,
    ) -> StoreAddress:
        """Return the address of a path or URL, after registering its options.

        The user, password and query of a URL count as options, too. `defaults` returns further
        options, and `storage_options` replace them by name. Options may have the names of other
        tools, such as `aws_access_key_id`. A local path has no options, and an address has its own,
        so for these `defaults` is not called. With `filesystem`, the path is one of that file
        system of fsspec, and only options of the cache may be given. Does no I/O. Raises
        InvalidInputError for a text that names no place, for options that are not a dictionary, for
        two values of one option, for options of a local path, and for options or a file system
        beside an address.
        """
        if storage_options is not None and not isinstance(storage_options, Mapping):
            # The message names the type alone, because the value may be a secret.
            raise InvalidInputError(
                "storage_options must be a dictionary of options by name, not of type"
                f" {type(storage_options).__name__}."
            )
        if isinstance(path, StoreAddress):
            if storage_options or filesystem is not None:
                raise InvalidInputError(f"{path.url} has its storage options already.")
            return path
        text = _text(path)
        if filesystem is not None:
            text = url_in(filesystem, text)
        if local_path(text) is not None:
            if storage_options:
                raise InvalidInputError(
                    f"{text} is a local path, which takes no storage options; leave"
                    f" {sorted(map(str, storage_options))} out."
                )
            return cls(text)
        if filesystem is not None:
            return cls._on(text, filesystem, storage_options or {})
        url, secrets = _without_credentials(text)
        if url.endswith(":"):
            raise InvalidInputError(f"{url}// names no place; write {url}//bucket/folder.")
        found = defaults() if defaults is not None else {}
        given = with_own_names(url, storage_options or {})
        held = _StoreOptions({**with_own_names(url, found), **given}, *secrets)
        return cls(url, None if held == _StoreOptions() else _REGISTRY.name_of(held))

    @classmethod
    def _on(cls, url: str, filesystem: Any, options: Mapping[str, Any]) -> StoreAddress:
        foreign = sorted(map(str, options.keys() - CACHE_OPTIONS))
        if foreign:
            raise InvalidInputError(
                f"{url} was given with a file system, which has its own options; leave the storage"
                f" options {foreign} out."
            )
        return cls(url, _REGISTRY.name_of(_StoreOptions(options, filesystem=filesystem)))

    @property
    def filesystem(self) -> Any:
        """The file system of fsspec that was given for the URL, or None.

        Raises InvalidInputError if this process does not know the options.
        """
        return self._held().filesystem

    @property
    def storage_options(self) -> dict[str, Any]:
        """The options by their own names. They hold secrets.

        Raises InvalidInputError if this process does not know them.
        """
        return dict(self._held().options)

    @property
    def connection_url(self) -> str:
        """The URL as the user gave it, for the library that connects. It may hold secrets.

        Raises InvalidInputError if this process does not know its credentials.
        """
        held = self._held()
        return _with_credentials(self.url, held.users) + held.query

    @property
    def connection_options(self) -> dict[str, Any]:
        """The options by name, without those of the cache. They hold secrets.

        Raises InvalidInputError if this process does not know them.
        """
        options = self._held().options
        return {name: value for name, value in options.items() if name not in CACHE_OPTIONS}

    @property
    def is_known(self) -> bool:
        """Whether this process can resolve the options."""
        return self.options is None or _REGISTRY.find(self.options) is not None

    def __truediv__(self, name: str) -> StoreAddress:
        """Return the address of a table or folder below this one, with the same options."""
        return replace(self, url=f"{self.url.rstrip('/')}/{name}")

    @property
    def parent(self) -> StoreAddress | None:
        """The address of the folder above; None above the root of a file system or bucket."""
        url = self.url.rstrip("/").rpartition("/")[0]
        return None if not url or url.endswith(("/", ":")) else replace(self, url=url)

    def _held(self) -> _StoreOptions:
        if self.options is None:
            return _StoreOptions()
        held = _REGISTRY.find(self.options)
        if held is None:
            raise InvalidInputError(
                f"The storage options of {self.url} are not known to this process; open the"
                " database or table again with its storage options."
            )
        return held

    def __reduce__(self) -> tuple[Callable[..., StoreAddress], tuple[Any, ...]]:
        held = self._held()
        if held.filesystem is not None:
            check_pickles(held.filesystem, self.url)
        return _load, (self.url, self.options, held)


StorePath = str | os.PathLike[str] | StoreAddress
"""A place as callers name it."""


@dataclass(frozen=True, slots=True, repr=False)
class _StoreOptions:
    """The options of a store, the users and the query of its URL, and its file system.

    Without a `repr`.
    """

    options: Mapping[str, Any] = ()  # type: ignore[assignment]
    users: tuple[str, ...] = ()
    query: str = ""
    filesystem: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", dict(self.options))

    def __repr__(self) -> str:
        return f"options {sorted(map(str, self.options))}"


class _Registry:
    """The options that this process knows, by name. Thread-safe.

    An entry stays as long as the process, because a job that names it may still arrive.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[str, _StoreOptions] = {}

    def name_of(self, held: _StoreOptions) -> str:
        """Return the name of some options; the same options have one name."""
        with self._lock:
            for name, known in self._held.items():
                if known == held:
                    return name
            # A random name says nothing about the options, not even to someone who can guess them.
            name = secrets.token_hex(16)
            self._held[name] = held
            return name

    def add(self, name: str, held: _StoreOptions) -> None:
        """Register options that another process has named."""
        with self._lock:
            self._held.setdefault(name, held)

    def find(self, name: str) -> _StoreOptions | None:
        return self._held.get(name)


_REGISTRY = _Registry()


def _load(url: str, options: str | None, held: _StoreOptions) -> StoreAddress:
    if options is not None:
        _REGISTRY.add(options, held)
    return StoreAddress(url, options)


def _text(path: object) -> str:
    text = os.fspath(path) if isinstance(path, str | bytes | os.PathLike) else path
    if not isinstance(text, str) or not text or "\0" in text or not _encodes(text):
        raise InvalidInputError(f"{text!r} is not a path: give a folder or a URL.")
    return text


def _encodes(text: str) -> bool:
    """Return whether a file can have this name. An unpaired surrogate has no encoding."""
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _without_credentials(text: str) -> tuple[str, tuple[tuple[str, ...], str]]:
    """Return a URL without users, passwords and query, and these parts in order.

    A chained URL such as `simplecache::s3://…` has one user for each `//`.
    """
    place, mark, query = text.partition("?")
    users = []

    def shown(found: re.Match[str]) -> str:
        secret = "" if found[1].lower() in _CONTAINERS else found[2] or ""
        users.append(secret)
        return found[0].removesuffix(secret) if secret else found[0]

    url = _AUTHORITY.sub(shown, place)
    return url.rstrip("/"), (tuple(users) if any(users) else (), mark + query)


def _with_credentials(url: str, users: tuple[str, ...]) -> str:
    left = iter(users)
    return _AUTHORITY.sub(lambda found: found[0] + next(left, ""), url)
