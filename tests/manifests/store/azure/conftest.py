"""Stores in containers of a server with the API of Azure."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from colonnade.manifests.store.azure import AzureStore
from tests.setup.azurite import Azurite
from tests.setup.http_proxy import Proxy


@pytest.fixture(scope="module")
def proxy(azurite: Azurite) -> Iterator[Proxy]:
    made = Proxy(azurite.port)
    yield made
    made.stop()


@pytest.fixture(scope="module")
def container(azurite: Azurite) -> str:
    return azurite.new_bucket()


@pytest.fixture
def store(azurite: Azurite, proxy: Proxy, container: str) -> Iterator[AzureStore]:
    made = AzureStore(f"az://{container}/{secrets.token_hex(4)}", azurite.at(proxy.url))
    made.require_writable()
    proxy.seen.clear()
    yield made
    proxy.plan = lambda seen: None
