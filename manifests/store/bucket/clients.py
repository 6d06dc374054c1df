"""The clients of one kind of store in this process, each for all stores with equal settings."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from colonnade.manifests.store.bucket.patience import Patience


class ClientSettings(Protocol):
    """The settings of a client."""

    @property
    def identity(self) -> str:
        """A text that only equal settings share. It may hold secrets."""
        ...


Settings = TypeVar("Settings", bound=ClientSettings)
Client = TypeVar("Client", bound=Patience)


class Clients(Generic[Settings, Client]):
    """Makes one client for all settings that are equal. Safe for use by several threads.

    A forked process gets clients of its own, because two processes cannot share connections. A
    client that lacks credentials is replaced, because the machine may have some by then.
    """

    def __init__(self, make: Callable[[Settings], Client]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._made: dict[tuple[int, str], Client] = {}

    def of(self, settings: Settings) -> Client:
        """Return the client of this process for some settings. Raises: the errors of `make`."""
        key = os.getpid(), settings.identity
        found = self._made.get(key)
        if found is None or found.is_spent:
            with self._lock:
                found = self._made.get(key)
                if found is None or found.is_spent:
                    found = self._made[key] = self._make(settings)
        return found
