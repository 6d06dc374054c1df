"""The file system of a process: forked, pickled, and made from the arguments of a given one."""

from __future__ import annotations

import os
import pickle
import threading
from typing import Any

import fsspec
import pytest

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store import StoreAddress, open_store
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.fsspec_files.client import client_of
from tests.manifests.store.fsspec_files.given import LIBRARIES, open_given
from tests.setup.minio import KEY, SECRET, Minio

pytestmark = pytest.mark.timeout(900)  # the first test may build the server


def test_stores_on_one_file_system_share_a_client(store: FsspecStore) -> None:
    above = store.address.parent
    assert above is not None
    other = open_store(above)
    assert isinstance(other, FsspecStore)
    assert client_of(other._settings) is client_of(store._settings)
    assert other.url == store.url.rpartition("/")[0]


def test_a_store_survives_a_pickle_and_shows_no_secret(store: FsspecStore) -> None:
    store.put("a", b"x", sync=True)
    again = pickle.loads(pickle.dumps(store))
    assert again.get("a") == b"x"
    assert again.put_if_absent("a", b"y").name == "EXISTS"
    shown = f"{again!r} {again.url} {again.address!r} {again.bucket!r} {again._settings!r}"
    assert SECRET not in shown


def test_a_forked_process_reads_and_writes_by_connections_of_its_own(store: FsspecStore) -> None:
    store.put("a", b"x", sync=True)
    child = os.fork()
    if child == 0:
        try:
            good = store.get("a") == b"x" and store.put_if_absent("b", b"y").name == "CREATED"
            os._exit(0 if good else 2)
        except BaseException:
            os._exit(1)
    ended = threading.Event()
    codes: list[int] = []

    def wait() -> None:
        codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    assert ended.wait(60)
    assert codes == [0]
    assert store.get("b") == b"y"


@pytest.mark.parametrize("name", ["s3fs", "gcsfs"])  # adlfs fails by itself when it is forgotten
def test_a_file_system_for_coroutines_is_used_without_them(
    name: str, request: pytest.FixtureRequest
) -> None:
    server = request.getfixturevalue(LIBRARIES[name].server)
    files = LIBRARIES[name].make(server.url, asynchronous=True)
    store = open_given(files, f"{server.new_bucket()}/async")
    assert store.put_if_absent("a", b"x").name == "CREATED"
    assert store.get("a") == b"x"


def test_a_session_of_the_caller_is_used_and_cannot_go_to_another_process(minio: Minio) -> None:
    from aiobotocore.session import AioSession
    from s3fs import S3FileSystem

    session = AioSession()
    session.set_credentials(KEY, SECRET)
    session.lock = threading.Lock()
    place = {"endpoint_url": minio.url, "client_kwargs": {"region_name": "us-east-1"}}
    store = open_given(S3FileSystem(session=session, **place), f"{minio.new_bucket()}/db")
    assert store.put_if_absent("a", b"x").name == "CREATED"
    with pytest.raises(InvalidInputError, match="cannot be sent to another process"):
        pickle.dumps(store)


def test_an_address_without_its_file_system_is_refused_in_another_process() -> None:
    store = open_given(fsspec.filesystem("memory"), "/db")
    unknown = StoreAddress(store.url, "f" * 32)
    with pytest.raises(InvalidInputError, match="not known to this process; open"):
        open_store(unknown)


def test_options_that_a_file_system_does_not_take_are_named() -> None:
    class Narrow(type(fsspec.filesystem("memory"))):  # type: ignore[misc]
        protocol = "narrow"
        cachable = False
        made = 0

        def __init__(self, **options: Any) -> None:
            Narrow.made += 1
            if Narrow.made > 1:
                raise TypeError("canary")
            super().__init__(**options)

    with pytest.raises(InvalidInputError, match="cannot be opened: check the URL") as refused:
        open_given(Narrow(), "db")
    assert "canary" not in refused.value.message


def test_every_library_of_the_tests_is_tried() -> None:
    assert set(LIBRARIES) == {"s3fs", "gcsfs", "adlfs"}
