"""The file system of an address in this process.

It is made from the arguments of the given one. So a forked process gets connections of its own, and
no listing comes from a cache, which would hide what other writers do.

Spec: docs/spec/store.md#file-systems-of-fsspec
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import fsspec

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.bucket.clients import Clients
from colonnade.manifests.store.bucket.option_values import PATIENCE_S
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.fsspec_files.classes import writing_class
from colonnade.manifests.store.fsspec_files.failures import classify

_FRESH = {"use_listings_cache": False}
_OF_THE_CALLER = ("asynchronous", "loop", "skip_instance_cache")


@dataclass(frozen=True, slots=True)
class FsspecSettings:
    """Which file system to use: the one of an address, or the one that its URL names."""

    address: StoreAddress

    @property
    def identity(self) -> str:
        """A text that is equal for equal settings."""
        place = "" if self.address.filesystem is not None else self.address.url
        return f"{self.address.options} {place}"


class FsspecClient(Patience):
    """A file system. Threads may share it.

    Raises: InvalidInputError if the protocol is unknown, lacks its package or refuses the options;
    StoreError if connecting fails.
    """

    def __init__(self, settings: FsspecSettings) -> None:
        super().__init__(PATIENCE_S)
        address = settings.address
        given = address.filesystem
        self.files, self.root = _named(address) if given is None else (_again(address), "")
        self.writes = writing_class(self.files)

    def root_of(self, address: StoreAddress) -> str:
        """Return the path of the root of a store in the file system."""
        if address.filesystem is None:
            return self.root
        return str(self.files._strip_protocol(address.url)).rstrip("/")


client_of = Clients(FsspecClient).of
"""Returns the client of this process for some settings."""


def _again(address: StoreAddress) -> Any:
    """Make the file system of an address anew in this process."""
    given = address.filesystem
    kind = writing_class(given)
    options = {
        name: value for name, value in given.storage_options.items() if name not in _OF_THE_CALLER
    }
    if kind is not None:
        options.update(_FRESH, **kind.options(options))
    return _connected(address, lambda: type(given)(*given.storage_args, **options), options)


def _named(address: StoreAddress) -> tuple[Any, str]:
    """Open the file system that a URL names. Returns it, and the path of the root in it."""
    url, options = address.connection_url, address.connection_options
    protocol = re.split(r"://|::", address.url, maxsplit=1)[0]
    try:
        fsspec.get_filesystem_class(protocol)
    except (ImportError, ValueError) as error:
        raise InvalidInputError(f"{address.url} cannot be opened: {error}.") from error

    def connect() -> tuple[Any, str]:
        try:
            return fsspec.url_to_fs(url, **{**_FRESH, **options})  # type: ignore[no-any-return]
        except TypeError:
            # Some protocols pass an unknown option to a client that refuses it.
            return fsspec.url_to_fs(url, **options)  # type: ignore[no-any-return]

    files, root = _connected(address, connect, options)
    return files, root.rstrip("/")


def _connected(address: StoreAddress, connect: Any, options: Mapping[str, Any]) -> Any:
    """Return what `connect` returns, and translate its errors."""
    try:
        return connect()
    except ImportError as error:
        raise InvalidInputError(f"{address.url} cannot be opened: {error}.") from error
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{address.url} cannot be opened: check the URL and the names of the storage options"
            f" {sorted(options)}."
        ) from error
    except Exception as error:
        failure = classify(error)
        if failure is None:
            raise
        raise failure.translate(address.url, "opened") from error
