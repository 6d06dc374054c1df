"""A bucket in a dictionary, whose requests fail as a test wants."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from colonnade.manifests.store.base import Data, ObjectInfo
from colonnade.manifests.store.bucket.failure import Failure
from colonnade.manifests.store.bucket.patience import Patience
from colonnade.manifests.store.bucket.requests import (
    BucketRequests,
    CheckSize,
    Head,
    ListingPage,
)
from colonnade.manifests.store.bucket.upload import Upload


def failure(
    status: int | None = None,
    *,
    arrived: bool = False,
    passing: bool = False,
    silent: bool = False,
    absent: bool = False,
) -> Failure:
    """A failed request."""
    return Failure(
        "it failed",
        OSError("below"),
        status=status,
        absent=absent,
        arrived=arrived,
        passing=passing,
        silent=silent,
    )


def hasty(patience_s: float = 60) -> Patience:
    """A patience that never sleeps."""
    made = Patience(patience_s)
    made.pause = lambda seconds: None
    return made


class FakeBucket(BucketRequests):
    """Objects by key. `before` runs before each request, and may raise its Failure."""

    name = "bucket"
    at_once = 2
    lacking = "conditional writes"
    server = "http://fake"

    def __init__(self, server: str = "http://fake") -> None:
        self.server = server
        self.patience = hasty()
        self.objects: dict[str, bytes] = {}
        self.requests: list[tuple[str, str]] = []
        self.before: Callable[[str, str], None] = lambda method, key: None
        self.checks_condition = True

    def _ask(self, method: str, key: str) -> None:
        self.requests.append((method, key))
        self.before(method, key)

    def read(self, key: str, check: CheckSize) -> bytes:
        self._ask("read", key)
        if key not in self.objects:
            raise failure(404, absent=True)
        check(len(self.objects[key]))
        return self.objects[key]

    def read_range(self, key: str, offset: int, length: int) -> bytes | None:
        found = self.read(key, lambda size: None)[offset : offset + length]
        return found if len(found) == length else None

    def head(self, key: str) -> Head:
        return Head(len(self.read(key, lambda size: None)), 0)

    def put(self, key: str, data: Data, *, if_absent: bool) -> None:
        self._ask("put", key)
        if if_absent and self.checks_condition and key in self.objects:
            raise failure(412)
        self.objects[key] = bytes(data)

    def remove(self, key: str) -> None:
        self._ask("remove", key)
        self.objects.pop(key, None)

    def page(self, prefix: str, after: str | None) -> ListingPage:
        """Two objects a page."""
        self._ask("list", prefix)
        keys = sorted(key for key in self.objects if key.startswith(prefix) and key > (after or ""))
        shown = [ObjectInfo(key, len(self.objects[key]), 0) for key in keys[:2]]
        return ListingPage(shown, keys[1] if len(keys) > 2 else None)

    def date_ms(self) -> int:
        return 0

    def upload(self, key: str) -> Upload:
        return FakeUpload(self, key)


class FakeUpload(Upload):
    """Parts of 4 bytes, two at once. `failing` has the failures of the next requests, by name."""

    under_way = 2

    def __init__(self, bucket: FakeBucket, key: str, *, ends_with_part: bool = False) -> None:
        self.patience = hasty()
        self.ends_with_part = ends_with_part
        self.bucket, self.key = bucket, key
        self.parts: dict[int, tuple[int, bytes]] = {}
        self.calls: list[str] = []
        self.failing: dict[str, list[Failure]] = {}
        self.own = False

    def part_size(self, number: int) -> int:
        return 4

    def put(self, body: bytes) -> None:
        self._publish("put", body)

    def begin(self) -> None:
        self._ask("begin")

    def send(self, number: int, offset: int, body: bytes) -> Any:
        self._ask("send")
        self.parts[number] = offset, body
        return number

    def finish(self, parts: list[Any], rest: bytes) -> None:
        self._publish("finish", b"".join(self.parts[each][1] for each in parts) + rest)

    def end(self) -> None:
        self._ask("end")
        self.parts.clear()

    def is_own(self) -> bool:
        self._ask("is_own")
        return self.own

    def _publish(self, name: str, body: bytes) -> None:
        self.calls.append(name)
        planned = self.failing.get(name)
        failed = planned.pop(0) if planned else None
        if failed is None or failed.arrived:
            if self.key in self.bucket.objects:
                raise failure(412)
            self.bucket.objects[self.key], self.own = body, True
        if failed is not None:
            raise failed

    def _ask(self, name: str) -> None:
        self.calls.append(name)
        planned = self.failing.get(name)
        if planned:
            raise planned.pop(0)
