"""The account, the container and the key that a URL of Azure names. Pure.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import re
from typing import NamedTuple

from colonnade.manifests.store.bucket.place import BucketPlace, parse_place

_CONTAINER = re.compile(
    r"(\$web|\$root|(?=[a-z0-9-]{3,63}(?:@|$))[a-z0-9]+(?:-[a-z0-9]+)*)(?:@([a-z0-9]{3,24})((?:\.[a-z0-9-]+)*))?",
    re.ASCII,
)


class AzureAddress(NamedTuple):
    """A place, its container, and the account and the host of the account, if the URL has them."""

    place: BucketPlace
    container: str
    account: str | None
    host: str | None


def parse_address(url: str) -> AzureAddress:
    """Return what `az://container/folder` or `abfss://container@account.host/folder` means.

    `abf:` URLs are reached through the account's host for blobs. The scheme stays, because Hadoop
    needs it. Raises as `parse_place`.
    """
    scheme = url.partition("://")[0].lower()
    options = "account_name, account_key, sas_token"
    place = parse_place(url, "az|abfss?", scheme, _CONTAINER, options)
    found = _CONTAINER.fullmatch(place.bucket)
    assert found is not None
    container, account, domain = found.groups()
    host = f"{account}{domain.replace('.dfs.', '.blob.', 1)}" if domain else None
    return AzureAddress(place, container, account, host)
