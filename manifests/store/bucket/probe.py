"""Show that a server keeps its promise: of all conditional puts of one name, one succeeds.

A server that ignores the condition loses commits and says nothing. So the first write of a process
to a bucket puts one random name twice, then another one from several threads at once.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
import threading
from functools import partial

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store.bucket.failure import TAKEN, Failure
from colonnade.manifests.store.bucket.requests import BucketRequests
from colonnade.manifests.store.side_by_side import side_by_side

RACERS = 8
_NO_SUPPORT = (400, 405, 501)
_lock = threading.Lock()
_sound: set[tuple[str, str]] = set()


def probe_once(bucket: BucketRequests, prefix: str, url: str) -> None:
    """Probe a bucket, unless this process has done so. Leaves no object, unless it is killed.

    A killed process leaves an unfinished object, which vacuum removes. Cost: twenty small requests,
    once for each process and bucket. Raises: InvalidInputError that says what the server lacks;
    StoreError if the bucket cannot be written to.
    """
    known = bucket.server, bucket.name
    if known in _sound:
        return
    with _lock:
        if known not in _sound:
            _probe(bucket, prefix, url)
            _sound.add(known)


def _probe(bucket: BucketRequests, prefix: str, url: str) -> None:
    folder, _, leaf = f"{prefix}{epoch_name(0)}".rpartition("/")
    keys = [f"{folder}/.tmp-{secrets.token_hex(8)}-{leaf}" for _ in range(2)]
    try:
        if [_put(bucket, keys[0], url) for _ in range(2)] != [True, False]:
            raise _unsafe(bucket, url, "replaces an object although it was told not to")
        bucket.check_new(keys[0])
        race = [partial(_put, bucket, keys[1], url)] * RACERS
        if sum(side_by_side(race, RACERS)) != 1:
            raise _unsafe(bucket, url, "lets several concurrent writers create one object")
    finally:
        for key in keys:
            _remove(bucket, key)
        bucket.tidy(folder)


def _put(bucket: BucketRequests, key: str, url: str) -> bool:
    """Return whether this call has created the object, perhaps by a put whose answer was lost."""
    token = secrets.token_hex(8).encode()
    try:
        bucket.patience.patiently(partial(bucket.put, key, token, if_absent=True))
    except Failure as failure:
        if failure.status == TAKEN:
            read = partial(bucket.read, key, lambda size: None)
            return bucket.patience.call(read, url, "read") == token
        if failure.status in _NO_SUPPORT:
            raise _unsafe(bucket, url, "refuses conditional writes") from failure.error
        raise failure.refuse(url) from failure.error
    return True


def _remove(bucket: BucketRequests, key: str) -> None:
    try:
        bucket.patience.call(partial(bucket.remove, key), key, "removed")
    except StoreError:
        # Vacuum finds it, and reports that it cannot remove it.
        return


def _unsafe(bucket: BucketRequests, url: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{url} cannot be written to safely: its server {what}, so a commit could be lost; it needs"
        f" {bucket.lacking}."
    )
