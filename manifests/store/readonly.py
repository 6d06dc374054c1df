"""A read-only store on any protocol that fsspec can read.

fsspec's own "create only" mode cannot carry commits. On most protocols it is check-then-write, its
caching wrappers drop it, and it reports a re-sent success as a failure. A commit on top of it can
lose tables. So Colonnade writes to a protocol only through an adapter of its own.

Spec: docs/spec/store.md#other-protocols
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any, NoReturn

from colonnade.manifests.errors import InvalidInputError, NotFoundError, StoreError
from colonnade.manifests.later import later
from colonnade.manifests.store.address import StoreAddress
from colonnade.manifests.store.base import (
    PARALLEL,
    TRUST_S,
    Data,
    ObjectInfo,
    ObjectStore,
    ObjectWriter,
    PutOutcome,
)
from colonnade.manifests.store.checks import (
    check_name,
    check_prefix,
    check_ranges,
    is_name,
    too_large,
    truncated,
)
from colonnade.manifests.store.transient import may_pass, retried

if TYPE_CHECKING:
    import fsspec
else:
    fsspec = later("fsspec")


class FsspecReadStore(ObjectStore):
    """Objects below any fsspec URL, including chained URLs (`simplecache::…`); read-only.

    Pickles as its address. The options may hold secrets, so they appear in no error and no `repr`.

    Raises: InvalidInputError if the protocol is unknown, lacks its package or refuses the options;
    StoreError if connecting fails.
    """

    read_only = True

    def __init__(
        self, path: str | StoreAddress, storage_options: Mapping[str, Any] | None = None
    ) -> None:
        self._address = StoreAddress.of(path, storage_options)
        self.url = self._address.url
        self.protocol = re.split(r"://|::", self.url, maxsplit=1)[0]
        self._files, self._root = self._connect()
        # Some protocols without a server, such as `zip`, cannot be used by several threads.
        if getattr(self._files, "async_impl", False):
            self.parallel, self.trust_s = PARALLEL, TRUST_S

    @property
    def address(self) -> StoreAddress:
        return self._address

    def __reduce__(self) -> tuple[type[FsspecReadStore], tuple[StoreAddress]]:
        return type(self), (self._address,)

    @retried
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        path = self._path(name)
        with self._reading(name):
            if limit is None:
                return bytes(self._files.cat_file(path))
            # Reading one byte more than allowed takes one request instead of a size and a read.
            data = bytes(self._files.cat_file(path, start=0, end=limit + 1))
        if len(data) > limit:
            raise too_large(self.locate(name), f"at least {len(data)}", limit)
        return data

    @retried
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        path = self._path(name)
        check_ranges(ranges)
        wanted = [(offset, offset + length) for offset, length in ranges if length]
        starts, ends = [start for start, _ in wanted], [end for _, end in wanted]
        try:
            with self._reading(name):
                paths = [path] * len(wanted)
                parts = iter(self._files.cat_ranges(paths, starts, ends, on_error="raise"))
        except StoreError as error:
            # Each protocol has its own error for a range past the end.
            if not error.retryable:
                self._check_size(name, path, ranges)
            raise
        found = [bytes(next(parts)) if length else b"" for _, length in ranges]
        if any(len(data) != length for data, (_, length) in zip(found, ranges, strict=True)):
            self._check_size(name, path, ranges)
            raise StoreError(f"{self.locate(name)} could only be read in part.", retryable=True)
        return found

    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        self._refuse(name)

    def put(self, name: str, data: Data, *, sync: bool) -> None:
        self._refuse(name)

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        self._refuse(name)

    def delete(self, name: str) -> None:
        self._refuse(name)

    def remove_folder(self, name: str) -> None:
        self._refuse(name)

    @retried
    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        top = prefix.rpartition("/")[0]
        try:
            with self._reading(top):
                found = self._files.find(f"{self._root}/{top}".rstrip("/"), detail=True)
        except NotFoundError:
            return iter(())
        names = ((path.removeprefix(f"{self._root}/"), info) for path, info in found.items())
        return (
            ObjectInfo(name, info["size"], None)
            for name, info in names
            if name.startswith(prefix) and is_name(name)
        )

    @retried
    def modified_ms(self, name: str) -> int | None:
        path = self._path(name)
        with self._reading(name):
            try:
                found = self._files.modified(path)
            except NotImplementedError:
                return None
        if not isinstance(found, datetime):
            return None
        # Protocols that leave the time zone out give UTC.
        aware = found if found.tzinfo else found.replace(tzinfo=timezone.utc)
        return int(aware.timestamp() * 1000)

    def require_writable(self) -> NoReturn:
        raise InvalidInputError(
            f"{self.url} is read-only: Colonnade knows no atomic put-if-absent for the protocol"
            f" {self.protocol!r}, and without one a commit can be lost; write to a local path"
            " or a database on S3, GCS, Azure or HDFS."
        )

    def _connect(self) -> tuple[Any, str]:
        """Open the file system. Returns it, and the path of the root in it."""
        url, options = self._address.connection_url, self._address.connection_options
        try:
            fsspec.get_filesystem_class(self.protocol)
        except (ImportError, ValueError) as error:
            raise InvalidInputError(f"{self.url} cannot be opened: {error}.") from error
        try:
            try:
                # A cached listing would hide later commits.
                files, root = fsspec.url_to_fs(url, **{"use_listings_cache": False, **options})
            except TypeError:
                # Some protocols pass an unknown option to a client that refuses it.
                files, root = fsspec.url_to_fs(url, **options)
        except ImportError as error:
            raise InvalidInputError(f"{self.url} cannot be opened: {error}.") from error
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"{self.url} cannot be opened: check the URL and the names of the storage options"
                f" {sorted(options)}."
            ) from error
        except Exception as error:
            raise _failed(self.url, error) from error
        return files, root.rstrip("/")

    def _refuse(self, name: str) -> NoReturn:
        check_name(name)
        self.require_writable()

    def _path(self, name: str) -> str:
        check_name(name)
        return f"{self._root}/{name}"

    def _check_size(self, name: str, path: str, ranges: Sequence[tuple[int, int]]) -> None:
        with self._reading(name):
            size = self._files.size(path)
        for offset, length in ranges:
            if size is not None and offset + length > size:
                raise truncated(self.locate(name), size, offset, length)

    @contextmanager
    def _reading(self, name: str) -> Iterator[None]:
        """Translate the errors of a protocol, which may be of any class."""
        try:
            yield
        except FileNotFoundError as error:
            raise NotFoundError(f"{self.locate(name)} does not exist.") from error
        except Exception as error:
            raise _failed(self.locate(name), error) from error


def _failed(location: str, error: Exception) -> StoreError:
    # The text of an fsspec error may hold a signed URL. The message names its class alone;
    # `__cause__` has the rest.
    return StoreError(
        f"{location} could not be read ({type(error).__name__}).",
        retryable=may_pass(error),
    )
