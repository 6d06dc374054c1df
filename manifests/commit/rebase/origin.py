"""Store where rows come from, beside the log or in it.

Spec: docs/spec/operations.md#origins
"""

from __future__ import annotations

import base64

from colonnade.manifests.arrays.origins import Rows, decode_origins
from colonnade.manifests.errors import CorruptionError, NotFoundError
from colonnade.manifests.ids import new_object_id
from colonnade.manifests.limits import LIMITS
from colonnade.manifests.model.codec import byte_check, verify
from colonnade.manifests.model.entries import OriginEntry
from colonnade.manifests.object_names import origin_name
from colonnade.manifests.store.checks import missing_object
from colonnade.manifests.store.object_store import ObjectStore


def write_origin(
    store: ObjectStore,
    prefix: str,
    job_id: str,
    data: bytes,
    *,
    inline_bytes: int = LIMITS.inline_bytes,
) -> OriginEntry:
    """Store the encoded origins of rows, and return their entry.

    The entry itself holds at most `inline_bytes` of them. Raises StoreError.
    """
    object_id = new_object_id(job_id)
    inline = len(data) <= inline_bytes
    if not inline:
        with store.create(origin_name(prefix, object_id), sync=True) as writer:
            writer.write(data)
    text = base64.b64encode(data).decode("ascii") if inline else None
    return OriginEntry(object=object_id, check=byte_check(data), data=text)


def read_origin(store: ObjectStore, prefix: str, entry: OriginEntry, rows: int) -> Rows:
    """Read the origins of `rows` rows. Raises CorruptionError, also if missing; StoreError."""
    name = store.locate(origin_name(prefix, entry.object))
    try:
        if entry.data is None:
            data = store.uncached.get(origin_name(prefix, entry.object), limit=entry.check.length)
        else:
            data = base64.b64decode(entry.data, validate=True)
        verify(data, entry.check, name)
        return decode_origins(data, rows)
    except NotFoundError as error:
        raise missing_object(name, entry.object) from error
    except ValueError as error:
        what = f"the origins of {rows} rows: {error}"
        raise CorruptionError(f"{name} does not have {what}.") from error
