"""A store on HDFS, over WebHDFS.

HDFS has no conditional put. A rename that replaces nothing takes its place, which the namenode
carries out in one step.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.bucket.store import BucketStore
from colonnade.manifests.store.checks import check_name, is_unfinished
from colonnade.manifests.store.hdfs.address import parse_address
from colonnade.manifests.store.hdfs.client import client_of
from colonnade.manifests.store.hdfs.namenodes import parse_site
from colonnade.manifests.store.hdfs.requests import HdfsRequests
from colonnade.manifests.store.hdfs.settings import parse_settings

_SITE_FILES = ("core-site.xml", "hdfs-site.xml")


class HdfsStore(BucketStore):
    """Objects below a folder of HDFS. `hdfs:` and `webhdfs:` URLs are both reached over WebHDFS.

    An `hdfs:` URL also uses the settings of Hadoop in the folder `HADOOP_CONF_DIR`. Raises:
    InvalidInputError for a URL, options or settings that cannot work.
    """

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        given = StoreAddress.of(path, storage_options)
        place = parse_address(given.connection_url)
        site = _site(os.environ) if place.scheme == "hdfs" else {}
        self._settings = parse_settings(given.connection_options, place, site, _user(os.environ))
        self._namenode = place.bucket
        settings = self._settings
        super().__init__(given, place.url, place.prefix, settings.identity, settings.parallel)

    @property
    def bucket(self) -> HdfsRequests:
        return HdfsRequests(client_of(self._settings), self._namenode)

    _unfinished = ""  # Killed writers leave files under temporary names in any folder.

    def remove_folder(self, name: str) -> None:
        check_name(name)
        bucket = self.bucket
        remove = partial(bucket.remove_folder, self._prefix + name)
        bucket.patience.call(remove, self.locate(name), "removed")

    def delete_unfinished(self, name: str) -> None:
        if not is_unfinished(name):
            raise InvalidInputError(f"{name[:300]!r} is not the name of an unfinished object.")
        self._remove(name)


def _user(environment: Mapping[str, str]) -> str:
    """Return who asks, as Hadoop's own clients determine it without Kerberos."""
    found = environment.get("HADOOP_USER_NAME")
    if not found:
        # Without an entry for the user of the process, the server decides who that is.
        with suppress(KeyError, OSError):
            found = getpass.getuser()
    return found or ""


def _site(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings in Hadoop's files. Raises: InvalidInputError for a malformed file."""
    folder = environment.get("HADOOP_CONF_DIR")
    home = environment.get("HADOOP_HOME")
    folder = folder or (f"{home}/etc/hadoop" if home else None)
    found: dict[str, str] = {}
    for name in _SITE_FILES if folder else ():
        path = Path(str(folder), name)
        try:
            found.update(parse_site(path.read_bytes()))
        except OSError:
            continue  # a client of Hadoop also does without the file
        except ElementTree.ParseError as error:
            raise InvalidInputError(
                f"{path} is not a file of Hadoop's settings: {error}."
            ) from error
    return found
