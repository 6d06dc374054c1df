"""An error that may pass is tried again, and never makes a reader give up what is whole."""

from __future__ import annotations

import asyncio
import errno
import time
from collections.abc import Callable, Iterator
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from colonnade.manifests.checkpoint.reader import read_hint, state_of
from colonnade.manifests.errors import StoreError
from colonnade.manifests.log.log import Log
from colonnade.manifests.object_names import HINT, checkpoint_name
from colonnade.manifests.reading.reader import LogReader
from colonnade.manifests.state.snapshot import Snapshot
from colonnade.manifests.store import MemoryStore
from colonnade.manifests.store.fsspec_files import FsspecStore
from colonnade.manifests.store.transient import may_pass
from tests.log_samples import ORDERS, append, contents, make_log, with_orders

EPOCHS = 1_000


def named(name: str, base: type[Exception] = Exception, **attributes: Any) -> Exception:
    """An error of a class that some client has, without the client."""
    error = type(name, (base,), {})("failed")
    for key, value in attributes.items():
        setattr(error, key, value)
    return error


def caused_by(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


def boto(status: int) -> Exception:
    """What botocore raises for an answer of S3."""
    return named("ClientError", response={"ResponseMetadata": {"HTTPStatusCode": status}})


PASSING = [
    TimeoutError(),
    asyncio.TimeoutError(),
    ConnectionResetError(),
    OSError(errno.EBUSY, "s3fs for 503"),
    OSError(getattr(errno, "EREMOTEIO", errno.EIO), "s3fs for 500"),
    caused_by(OSError(errno.EIO, "s3fs for what it does not know"), boto(429)),
    named("HttpError", code=503),
    named("HttpError", code="503"),
    named("ClientResponseError", status=429),
    named("HttpResponseError", status_code=500),
    named("HTTPError", response=named("Response", status_code=502)),
    named("ConnectionError", OSError),
    named("ServerDisconnectedError", type("ClientConnectionError", (Exception,), {})),
    caused_by(RuntimeError("wrapped"), TimeoutError()),
]
LASTING = [
    PermissionError(errno.EACCES, "denied"),
    OSError(errno.EINVAL, "bad"),
    caused_by(OSError(errno.EIO, "s3fs for what it does not know"), boto(403)),
    named("HttpError", code=403),
    named("ClientResponseError", status=501),
    LookupError("strange"),
    ValueError("no status", 503),
]


@pytest.mark.parametrize("error", PASSING, ids=repr)
def test_an_error_of_a_busy_or_far_store_is_transient(error: Exception) -> None:
    assert may_pass(error)


@pytest.mark.parametrize("error", LASTING, ids=repr)
def test_a_refusal_does_not_pass(error: Exception) -> None:
    assert not may_pass(error)


class BusyFiles(MemoryFileSystem):  # type: ignore[misc]
    """Counts reads, and answers 503 to those that `busy` picks by their number and path."""

    protocol = "busy"
    store: dict[str, Any] = {}
    pseudo_dirs = [""]
    reads: list[str] = []
    busy: Callable[[int, str], bool] = staticmethod(lambda number, path: False)

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("busy://", "memory://")))

    def cat_file(self, path: str, *args: Any, **kwargs: Any) -> bytes:
        self.reads.append(path)
        if self.busy(len(self.reads), path):
            raise caused_by(OSError(errno.EBUSY, "Please reduce your request rate."), boto(503))
        return bytes(super().cat_file(path, *args, **kwargs))


@pytest.fixture(scope="module")
def written() -> MemoryStore:
    """A log of 1,000 epochs, with a checkpoint every 64."""
    store = MemoryStore()
    log = make_log(store)
    state = with_orders(store, log)
    for _ in range(state.epoch, EPOCHS):
        state = log.commit(append(), state)
    return store


@pytest.fixture
def far(written: MemoryStore, monkeypatch: pytest.MonkeyPatch) -> Iterator[FsspecStore]:
    """Open the log through a protocol of fsspec, whose client never sleeps for long."""
    fsspec.register_implementation("busy", BusyFiles, clobber=True)
    files = fsspec.filesystem("busy")
    for info in written.list(""):
        files.pipe_file(f"/db/{info.name}", written.get(info.name))
    monkeypatch.setattr(BusyFiles, "reads", [])
    store = FsspecStore("busy://db")
    monkeypatch.setattr(store.bucket.patience, "pause", lambda seconds: time.sleep(0.02))
    monkeypatch.setattr(store.bucket.patience, "patience_s", 1.0)
    yield store
    BusyFiles.store.clear()
    BusyFiles.pseudo_dirs[:] = [""]


def read_all(store: FsspecStore) -> tuple[Snapshot, int]:
    """The head and its RowSets, and how many reads they took."""
    BusyFiles.reads.clear()
    log = LogReader(store)
    head = log.read_head()
    assert len(log.rowsets.read(head.tables[ORDERS])) == EPOCHS - 1
    return head, len(BusyFiles.reads)


@pytest.mark.slow
def test_one_busy_answer_costs_one_more_read_wherever_it_comes(
    far: FsspecStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    head, calm = read_all(far)
    assert head.epoch == EPOCHS
    assert calm < 64 + 16
    for place in range(1, calm + 1):
        monkeypatch.setattr(BusyFiles, "busy", staticmethod(lambda n, path, at=place: n == at))
        found, reads = read_all(far)
        assert reads == calm + 1
        assert found == head


@pytest.mark.parametrize("part", ["hint", "root", "segment"])
def test_a_cache_that_stays_busy_is_an_error_and_no_replay(
    part: str, far: FsspecStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = read_hint(far)
    assert found is not None
    ref, root = found
    segments = state_of(far, ref, root).tables[ORDERS].rowsets.segments
    name = {
        "hint": HINT,
        "root": checkpoint_name(ref.root),
        "segment": checkpoint_name(segments[0].segment.object),
    }[part]
    monkeypatch.setattr(BusyFiles, "busy", staticmethod(lambda n, path: path.endswith(name)))
    with pytest.raises(StoreError, match=name) as caught:
        read_all(far)
    assert caught.value.retryable
    asked = BusyFiles.reads.count(f"/db/{name}")
    assert 2 <= asked < 60
    assert len(BusyFiles.reads) < 64 + 16 + asked


@pytest.mark.parametrize("part", ["hint", "segment"])
def test_a_cache_that_is_damaged_is_passed_over(part: str, written: MemoryStore) -> None:
    store = MemoryStore()
    for info in written.list(""):
        store.put(info.name, written.get(info.name), sync=False)
    head = Log(store).reader.read_head()
    [first, *_] = head.tables[ORDERS].rowsets.segments
    store.put(HINT if part == "hint" else checkpoint_name(first.segment.object), b"x", sync=False)
    assert contents(LogReader(store), LogReader(store).read_head()) == contents(
        LogReader(written), head
    )
