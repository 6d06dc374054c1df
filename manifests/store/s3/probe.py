"""Show that a server keeps its promise: of all conditional puts of one name, one succeeds.

A server that ignores the condition loses commits and says nothing. So the first write of a process
to a bucket puts one random name twice, then another one from several threads at once.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import secrets
import threading
from concurrent.futures import ThreadPoolExecutor

from colonnade.manifests.errors import InvalidInputError, StoreError
from colonnade.manifests.object_names import epoch_name
from colonnade.manifests.store.s3.client import S3Client, refuse
from colonnade.manifests.store.s3.failures import Failure

RACERS = 4
_NO_SUPPORT = (400, 405, 501)
_lock = threading.Lock()
_sound: set[tuple[str, str]] = set()


def probe_once(client: S3Client, bucket: str, prefix: str, url: str) -> None:
    """Probe a bucket, unless this process has done so. Leaves no object, unless it is killed.

    A killed process leaves an unfinished object, which vacuum removes. Cost: once for a process and
    bucket, eight small requests. Raises: InvalidInputError that says what the server lacks;
    StoreError if the bucket cannot be written to.
    """
    known = client.server, bucket
    if known in _sound:
        return
    with _lock:
        if known not in _sound:
            _probe(client, bucket, prefix, url)
            _sound.add(known)


def _probe(client: S3Client, bucket: str, prefix: str, url: str) -> None:
    folder, _, leaf = f"{prefix}{epoch_name(0)}".rpartition("/")
    keys = [f"{folder}/.tmp-{secrets.token_hex(8)}-{leaf}" for _ in range(2)]
    try:
        if [_put(client, bucket, keys[0], url) for _ in range(2)] != [True, False]:
            raise _unsafe(url, "replaces an object although it was told not to")
        with ThreadPoolExecutor(RACERS) as pool:
            won = [pool.submit(_put, client, bucket, keys[1], url) for _ in range(RACERS)]
        if sum(each.result() for each in won) != 1:
            raise _unsafe(url, "lets several concurrent writers create one object")
    finally:
        for key in keys:
            _remove(client, bucket, key)


def _put(client: S3Client, bucket: str, key: str, url: str) -> bool:
    """Return whether a conditional put has created the object; an own earlier try counts."""
    token = secrets.token_hex(8)
    body = {"Bucket": bucket, "Key": key, "Body": token.encode(), **client.settings.extra}
    try:
        client.patiently(lambda: client.send("PutObject", {**body, "IfNoneMatch": "*"}))
    except Failure as failure:
        if failure.status == 412:
            found = client.call("GetObject", url, "read", Bucket=bucket, Key=key)
            return bool(found["Body"] == token.encode())
        if failure.status in _NO_SUPPORT:
            raise _unsafe(url, "refuses conditional writes") from failure.error
        raise refuse(url, failure) from failure.error
    return True


def _remove(client: S3Client, bucket: str, key: str) -> None:
    try:
        client.call("DeleteObject", key, "removed", Bucket=bucket, Key=key)
    except StoreError:
        # Vacuum finds it, and reports that it cannot remove it.
        return


def _unsafe(url: str, what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{url} cannot be written to safely: its server {what}, so a commit could be lost; it needs"
        " PutObject with 'If-None-Match: *', as S3, MinIO and Ceph have it."
    )
