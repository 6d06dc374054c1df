"""Each store in turn, empty."""

from __future__ import annotations

import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from colonnade.manifests.store import ObjectStore, open_store
from tests.manifests.store.conformance.stores import BUCKETS, SERVERS, STORES
from tests.manifests.store.fsspec_files.given import LIBRARIES, open_given


@pytest.fixture(scope="module")
def new_root() -> Callable[[Any], str]:
    """Returns a new folder of a bucket of a server; all folders of a server have one bucket."""
    buckets: dict[int, str] = {}

    def root(server: Any) -> str:
        bucket = buckets.setdefault(id(server), "") or server.new_bucket()
        buckets[id(server)] = bucket
        return f"{bucket}/a b%20ü/{secrets.token_hex(8)}"

    return root


@pytest.fixture(params=[*STORES, *SERVERS, *LIBRARIES])
def store(
    request: pytest.FixtureRequest, tmp_path: Path, new_root: Callable[[Any], str]
) -> ObjectStore:
    if request.param in STORES:
        return STORES[request.param](tmp_path)
    library = LIBRARIES.get(request.param)
    if library is not None:
        server = request.getfixturevalue(library.server)
        return open_given(library.make(server.url), new_root(server))
    server = request.getfixturevalue(request.param)
    return open_store(f"{BUCKETS[request.param]}://{new_root(server)}", server.options())


@pytest.fixture(params=STORES)
def without_logs(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    """Each store where a drop leaves no log."""
    return STORES[request.param](tmp_path)


@pytest.fixture
def eager_switching() -> Iterator[None]:
    """Let threads interrupt each other nearly everywhere."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
