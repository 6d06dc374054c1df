"""The folders of a store on local disk, opened below its root, and never through a link.

No name therefore leads out of the root. The root itself may be reached through links.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.base import ObjectInfo
from colonnade.manifests.store.local.files import FOLDER, Test, make_path, walk_folder
from colonnade.manifests.store.transient import PASSING

# ENOENT: a vacuum removed an unfinished file as left behind, while its process was stopped.
_RETRYABLE = PASSING | {errno.ENOENT}
_REASONS = {
    errno.ENOSPC: "the disk is full; free some space and run this again",
    errno.EDQUOT: "the disk quota is used up; free some space and run this again",
    errno.EFBIG: "the file size limit of the file system or of this process is reached",
    errno.ENOENT: "its unfinished file, or its folder, was removed meanwhile; run this again",
    errno.EACCES: "permission denied; check the owner and mode of the file and its folders",
    errno.EROFS: "the file system is mounted read-only",
    errno.ELOOP: "it is a symbolic link, and a database has none",
    errno.ENOTDIR: "one of its folders is a file or a symbolic link, and must be a real folder",
}


def always(name: str) -> bool:
    """The test that is true of every name."""
    del name
    return True


class LocalFolders:
    """The folders below a root, which is a path of this machine. Threads may share it."""

    def __init__(self, root: str) -> None:
        self.root = root
        # Folders whose entry in their parent was synced. A folder that another process made may
        # not be durable yet, even if the files in it are.
        self._synced: set[str] = set()

    def locate(self, name: str) -> str:
        """Return the name of an object as error messages show it."""
        return f"{self.root}/{name}"

    @contextmanager
    def open(
        self, name: str, *, make: bool = False, sync: bool = False, flags: int = FOLDER
    ) -> Iterator[tuple[int, str]]:
        """Yield what `enter` returns, and close the file descriptor at the end of the block."""
        folder, leaf = self.enter(name, make=make, sync=sync, flags=flags)
        try:
            yield folder, leaf
        finally:
            os.close(folder)

    def enter(
        self, name: str, *, make: bool = False, sync: bool = False, flags: int = FOLDER
    ) -> tuple[int, str]:
        """Open the folder of an object. Returns its file descriptor, and the object's name in it.

        The caller closes the file descriptor. With `make`, makes missing folders, and the root.
        With `sync`, the entry of each folder in its parent is durable afterwards. `flags` are those
        of `os.open`. Cost: one `open` for each folder in the name, and one more with `make`, or for
        the first sync of a folder. Raises: OSError; FileNotFoundError if a folder is missing.
        """
        *parts, leaf = name.split("/")
        path = f"/{parts[0]}" if parts else ""
        if parts and not make and (path in self._synced or not sync):
            folder, below = self._open_first(path, flags), parts[1:]
        else:
            folder, below, path = self._open_root(make, flags), parts, ""
        try:
            for part in below:
                path = f"{path}/{part}"
                if make:
                    self._make_folder(folder, part, path)
                if sync and path not in self._synced:
                    os.fsync(folder)
                    self._synced.add(path)
                inner = os.open(part, flags | os.O_NOFOLLOW, dir_fd=folder)
                os.close(folder)
                folder = inner
        except BaseException:
            os.close(folder)
            raise
        return folder, leaf

    def _open_first(self, path: str, flags: int) -> int:
        """Open a folder right below the root by one call, which follows links to the root alone."""
        try:
            return os.open(self.root + path, flags | os.O_NOFOLLOW)
        except NotADirectoryError:
            os.close(self._open_root(make=False, flags=flags))  # says so if the root is a file
            raise

    def _open_root(self, make: bool, flags: int) -> int:
        try:
            return os.open(self.root, flags)
        except NotADirectoryError as error:
            if make:
                raise
            raise FileNotFoundError(errno.ENOENT, "its root is a file") from error
        except FileNotFoundError:
            if not make:
                raise
        make_path(self.root)
        return os.open(self.root, flags)

    def _make_folder(self, parent: int, part: str, path: str) -> None:
        with suppress(FileExistsError):
            os.mkdir(part, dir_fd=parent)
            self._synced.discard(path)

    @contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """A block that writes an object. Its OSErrors become StoreErrors about the object."""
        try:
            yield
        except OSError as error:
            raise failed(self.locate(name), "written", error) from error

    def walk(self, prefix: str, listed: Test, measured: Test = always) -> Iterator[ObjectInfo]:
        """Yield the files whose name begins with `prefix` and is `listed`, in no order.

        Other files than `measured` ones have the size 0 and no time. Yields nothing if there is no
        such folder. Raises: StoreError.
        """
        top = prefix.rpartition("/")[0]
        try:
            # The leaf `_` is arbitrary: only its folder is opened.
            with self.open(f"{top}/_" if top else "_") as (folder, _):
                yield from walk_folder(folder, f"{top}/" if top else "", prefix, listed, measured)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise failed(self.locate(top), "listed", error) from error


def failed(location: str, verb: str, error: OSError) -> StoreError:
    """Return the error for an object that was not `verb`, with the reason and what to do."""
    reason = _REASONS.get(error.errno or 0, error.strerror or type(error).__name__)
    return StoreError(
        f"{location} could not be {verb}: {reason}.", retryable=error.errno in _RETRYABLE
    )
