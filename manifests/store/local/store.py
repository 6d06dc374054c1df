"""A store on local disk: temporary file, fsync, hard link, fsync of the directory.

An exclusive `open` makes only the name atomic. A reader would see the file grow, and a killed
writer would leave an empty epoch that blocks its slot for ever. A hard link gives a complete file
its name in one step, and fails if the name is in use.

An unfinished object is a file `.tmp-<16 hex digits>-<last part of the name>` in the folder of the
future object. Such a name is not an object name, so `list` does not yield it and nothing reads it.
A killed process leaves such files behind. Vacuum recognizes them by the pattern, and removes them
once they are old.

The store opens the directories below the root one by one and never through a link, so no name leads
out of the root. The root itself may be reached through links. The store needs a POSIX system.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, suppress

from colonnade.manifests.errors import (
    InvalidInputError,
    NotFoundError,
)
from colonnade.manifests.object_names import epoch_name, epoch_number, needs_log
from colonnade.manifests.store.base import Data, ObjectInfo, ObjectWriter, PutOutcome
from colonnade.manifests.store.checks import (
    check_body,
    check_name,
    check_prefix,
    check_ranges,
    is_name,
    is_unfinished,
    no_log,
    too_large,
    truncated,
)
from colonnade.manifests.store.local.files import (
    NO_LINKS,
    discard,
    is_there,
    link,
    make_path,
    write_temp,
)
from colonnade.manifests.store.local.first_epoch import FirstEpoch
from colonnade.manifests.store.local.folders import LocalFolders, failed
from colonnade.manifests.store.local.reading import OpenObject, opened
from colonnade.manifests.store.local.turns import Turns
from colonnade.manifests.store.local.writer import LocalWriter, begin_object
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.store.transient import retried
from colonnade.manifests.store.turn import Turn

# After these errors the link certainly does not exist. After any other error (such as a time-out of
# a network file system) the outcome is unknown.
_NOT_LINKED = NO_LINKS | {
    errno.EACCES,
    errno.EDQUOT,
    errno.EMLINK,
    errno.ENOENT,
    errno.ENOSPC,
    errno.EROFS,
}
_SYNCS_AT_ONCE = 16
"""A disk syncs this many files in hardly more time than one."""


class LocalStore(ObjectStore):
    """Objects as files below a folder. The first write makes the folder.

    The store pickles as its root. Cost: one `open` for each folder in a name.
    """

    read_only = False
    files_are_cheap = True

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.url = os.path.abspath(root)
        self._folders = LocalFolders(self.url)
        self._turns = Turns()
        self._first_epoch = FirstEpoch(self.url)

    def __reduce__(self) -> tuple[type[LocalStore], tuple[str]]:
        return type(self), (self.url,)

    @retried
    def get(self, name: str, *, limit: int | None = None) -> bytes:
        with self._reading(name) as file:
            if limit is not None and file.size > limit:
                raise too_large(file.location, str(file.size), limit)
            return file.read(0, file.size)

    @retried
    def get_ranges(self, name: str, ranges: Sequence[tuple[int, int]]) -> Sequence[bytes]:
        check_ranges(ranges)
        with self._reading(name) as file:
            # Checked before anything is allocated: a forged length must not use up the memory.
            for offset, length in ranges:
                if offset + length > file.size:
                    raise truncated(file.location, file.size, offset, length)
            return [file.read(offset, length) for offset, length in ranges]

    def read_windows(
        self, name: str, windows: Sequence[tuple[int, int]], buffer: memoryview
    ) -> Iterator[memoryview]:
        check_ranges(windows)
        with self._reading(name) as file:
            for offset, length in windows:
                file.read_into(buffer[:length], offset)
                yield buffer[:length]

    @retried
    def put_if_absent(self, name: str, data: Data) -> PutOutcome:
        check_body(name, data)
        with self._folders.writing(name), self._slot(name, sync=True) as (folder, leaf):
            outcome = self._link_new(folder, leaf, data)
            try:
                # EXISTS needs the sync too: the writer that linked it may have died before this
                # line.
                os.fsync(folder)
            except OSError:
                return PutOutcome.UNKNOWN
            return outcome

    def _link_new(self, folder: int, leaf: str, data: Data) -> PutOutcome:
        """Give new bytes a name in a folder. The name is not durable yet."""
        if is_there(folder, leaf):
            return PutOutcome.EXISTS
        temp = write_temp(folder, leaf, data, sync=True)
        try:
            link(folder, temp, leaf)
        except FileExistsError:
            return PutOutcome.EXISTS
        except OSError as error:
            if error.errno in _NOT_LINKED:
                raise
            return PutOutcome.UNKNOWN
        finally:
            # The next writer may continue while this one makes the name durable.
            self._turns.end()
            discard(folder, temp)
        return PutOutcome.CREATED

    @retried
    def put(self, name: str, data: Data, *, sync: bool) -> None:
        check_body(name, data)
        with self._folders.writing(name), self._slot(name, sync=sync) as (folder, leaf):
            temp = write_temp(folder, leaf, data, sync)
            try:
                os.rename(temp, leaf, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                discard(folder, temp)
                raise
            if sync:
                os.fsync(folder)

    def create(self, name: str, *, sync: bool) -> ObjectWriter:
        check_name(name)
        return begin_object(self._folders, name, sync=sync)

    def close_all(self, writers: Sequence[ObjectWriter]) -> None:
        files = [each for each in writers if isinstance(each, LocalWriter)]
        with ThreadPoolExecutor(_SYNCS_AT_ONCE) as pool:
            closing = [pool.submit(file.publish) for file in files]
        for each in closing:
            each.result()
        for file in {os.path.dirname(file.name): file for file in files}.values():
            file.sync_folder()

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        return self._folders.walk(prefix, is_name)

    def delete(self, name: str) -> None:
        check_name(name)
        with (
            self._folders.writing(name),
            suppress(FileNotFoundError),
            self._folders.open(name) as (folder, leaf),
        ):
            if epoch_number(name) is not None:
                self._first_epoch.check(folder)
            os.unlink(leaf, dir_fd=folder)

    def remove_folder(self, name: str) -> None:
        check_name(name)
        with (
            self._folders.writing(name),
            suppress(FileNotFoundError),
            self._folders.open(name) as (folder, leaf),
        ):
            try:
                os.rmdir(leaf, dir_fd=folder)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                    raise

    @retried
    def modified_ms(self, name: str) -> int | None:
        with self._reading(name) as file:
            return file.modified_ns // 1_000_000

    def date_of_write(self, name: str) -> int | None:
        check_name(name)
        with suppress(OSError), self._folders.open(name) as (folder, leaf):
            temp = write_temp(folder, leaf, b"\n", sync=False)
            try:
                written = os.stat(temp, dir_fd=folder, follow_symlinks=False)
                return written.st_mtime_ns // 1_000_000
            finally:
                discard(folder, temp)
        return None

    def list_unfinished(self) -> Iterator[ObjectInfo]:
        return self._folders.walk("", is_unfinished)

    def list_all(self, measured: Callable[[str], bool]) -> Iterator[ObjectInfo]:
        return self._folders.walk("", lambda name: is_name(name) or is_unfinished(name), measured)

    def delete_unfinished(self, name: str) -> None:
        if not is_unfinished(name):
            raise InvalidInputError(f"{name[:300]!r} is not the name of an unfinished object.")
        with (
            self._folders.writing(name),
            suppress(FileNotFoundError),
            self._folders.open(name) as (folder, leaf),
        ):
            os.unlink(leaf, dir_fd=folder)

    def turn(self, folder: str) -> Turn:
        check_name(folder)
        return self._turns.begin(os.path.join(self.url, folder))

    def require_folder(self) -> None:
        path = self.url
        while not os.path.exists(path):
            if os.path.islink(path):
                raise NotFoundError(f"{path} is a symbolic link whose target does not exist.")
            path = os.path.dirname(path)
        if not os.path.isdir(path):
            raise NotFoundError(
                f"{path} is a file, not a folder: a Colonnade database or table needs a folder."
            )

    def make_root(self) -> None:
        """Make the root folder and its missing parents. Raises: StoreError."""
        try:
            make_path(self.url)
        except OSError as error:
            raise failed(self.url, "made", error) from error

    @contextmanager
    def _slot(self, name: str, *, sync: bool) -> Iterator[tuple[int, str]]:
        """Open the folder of an object; make it unless the object needs a log.

        If the object needs a log, raises NotFoundError when the log does not exist, or when it is
        another one than this store has read epochs of.
        """
        later = needs_log(name)
        try:
            folder, leaf = self._folders.enter(name, make=not later, sync=sync)
        except FileNotFoundError as error:
            raise (no_log(self.url) if later else error) from error
        try:
            if later:
                self._first_epoch.check(folder)
            elif name == epoch_name(0):
                self._first_epoch.forget()
            yield folder, leaf
        finally:
            os.close(folder)

    def _reading(self, name: str) -> AbstractContextManager[OpenObject]:
        return opened(self._folders, name, self._first_epoch)
