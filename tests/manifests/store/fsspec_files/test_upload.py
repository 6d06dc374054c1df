"""A streamed object is whole or not there, whatever a file system of fsspec does on the way."""

from __future__ import annotations

import gc
import secrets

import pytest

from colonnade.manifests.errors import AlreadyExistsError, StoreError
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.fsspec_files.upload import PART
from tests.manifests.store.fsspec_files.given import Library
from tests.setup.http_proxy import (
    Fault,
    Proxy,
    Seen,
    reply_dropped,
    request_dropped,
    status_after,
    status_before,
)

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


@pytest.mark.parametrize("size", [10, PART, PART + 1, 2 * PART + 5])
def test_an_object_of_any_size_is_stored_byte_for_byte(store: FsspecStore, size: int) -> None:
    data = secrets.token_bytes(size)
    with store.create("t/a", sync=True) as writer:
        for start in range(0, size, 3_000_000):
            writer.write(data[start : start + 3_000_000])
    assert store.get("t/a") == data


@pytest.mark.slow
@pytest.mark.parametrize("size", [1000, PART + 1000])
@pytest.mark.parametrize("fault", [reply_dropped, request_dropped, status_after(503, "Busy")])
def test_an_object_is_whole_or_absent_after_a_fault_at_any_request(
    store: FsspecStore, proxy: Proxy, fault: Fault, size: int
) -> None:
    data = secrets.token_bytes(size)
    for number in range(1, 4 if size > PART else 2):
        seen = [0]

        def plan(request: Seen, seen: list[int] = seen, number: int = number) -> Fault | None:
            if request.method not in ("PUT", "POST"):
                return None
            seen[0] += 1
            return fault if seen[0] == number else None

        proxy.plan = plan
        try:
            with store.create(f"t/{number}", sync=True) as writer:
                writer.write(data)
        except StoreError:
            assert size > PART
            proxy.plan = lambda seen: None
            assert list(store.list(f"t/{number}")) == []
        else:
            assert store.get(f"t/{number}") == data


def test_an_object_that_met_its_own_first_try_is_not_another_writers(
    store: FsspecStore, proxy: Proxy, library: Library
) -> None:
    for number, fault in enumerate((reply_dropped, status_after(503, "ServerBusy"))):
        proxy.once(fault, library.commits_by)
        with store.create(f"t/{number}", sync=True) as writer:
            writer.write(b"mine")
        assert store.get(f"t/{number}") == b"mine"


@pytest.mark.parametrize("size", [10, PART + 10])
def test_a_name_that_another_writer_took_is_never_replaced(store: FsspecStore, size: int) -> None:
    writer = store.create("t/a", sync=True)
    writer.write(b"x" * size)
    store.put("t/a", b"x" * size, sync=True)  # equal bytes are not one's own object
    with pytest.raises(AlreadyExistsError, match="t/a exists already"):
        writer.close()
    assert store.get("t/a") == b"x" * size


@pytest.mark.parametrize("size", [10, PART + 10])
def test_an_object_that_is_refused_is_an_error_and_is_not_there(
    store: FsspecStore, proxy: Proxy, size: int
) -> None:
    writer = store.create("t/a", sync=True)
    proxy.plan = lambda seen: (
        status_before(403, "AccessDenied") if seen.method in ("PUT", "POST") else None
    )
    with pytest.raises(StoreError, match="t/a could not be written"), writer:
        writer.write(b"x" * size)
    proxy.plan = lambda seen: None
    assert list(store.list("")) == []


@pytest.mark.slow
def test_a_file_that_is_given_up_or_forgotten_makes_no_object(store: FsspecStore) -> None:
    """The file of fsspec makes its object when nobody needs it any more."""
    given_up, forgotten = store.create("t/a", sync=True), store.create("t/b", sync=True)
    for writer in (given_up, forgotten):
        writer.write(b"x" * (PART + 10))
        writer.write(b"x" * (PART + 10))
    given_up.abort()
    del writer, given_up, forgotten
    gc.collect()
    assert list(store.list("")) == []
