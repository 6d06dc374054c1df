"""A data object of any size on its way to local disk: a temporary file, then its name.

Spec: docs/spec/store.md#local-disk
"""

from __future__ import annotations

import os
from contextlib import suppress

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError
from colonnade.manifests.store.base import Data, ObjectWriter
from colonnade.manifests.store.local.files import WRITE, discard, link, temp_name, write_all
from colonnade.manifests.store.local.folders import LocalFolders


def begin_object(folders: LocalFolders, name: str, *, sync: bool) -> LocalWriter:
    """Begin a new object, and make its folders. Raises: AlreadyExistsError; StoreError."""
    with folders.writing(name), folders.open(name, make=True, sync=sync) as (folder, leaf):
        with suppress(FileNotFoundError):
            os.stat(leaf, dir_fd=folder, follow_symlinks=False)
            raise AlreadyExistsError(f"{folders.locate(name)} exists already.")
        temp = temp_name(leaf)
        return LocalWriter(folders, name, temp, os.open(temp, WRITE, 0o666, dir_fd=folder), sync)


class LocalWriter(ObjectWriter):
    """Streams into a temporary file. It holds one file descriptor, and none of the folder."""

    def __init__(self, folders: LocalFolders, name: str, temp: str, file: int, sync: bool) -> None:
        self._folders = folders
        self.name = name
        self._temp = temp
        self._file: int | None = file
        self._sync = sync

    def write(self, data: Data) -> None:
        if self._file is None:
            raise InvalidInputError(
                f"{self._folders.locate(self.name)} is no longer being written."
            )
        try:
            with self._folders.writing(self.name):
                write_all(self._file, data)
        except BaseException:
            self.abort()
            raise

    def close(self) -> None:
        if self._file is None:
            return
        self.publish()
        self.sync_folder()

    def publish(self) -> None:
        """Give the object its name. The name is not durable before `sync_folder`."""
        if self._file is None:
            return
        try:
            with self._folders.writing(self.name):
                if self._sync:
                    os.fsync(self._file)
                with self._folders.open(self.name) as (folder, leaf):
                    self._link(folder, leaf)
        finally:
            self.abort()

    def _link(self, folder: int, leaf: str) -> None:
        try:
            link(folder, self._temp, leaf)
        except FileExistsError as error:
            raise AlreadyExistsError(
                f"{self._folders.locate(self.name)} exists already."
            ) from error
        discard(folder, self._temp)

    def sync_folder(self) -> None:
        """Make the names of all objects in the folder durable."""
        if self._sync:
            with self._folders.writing(self.name), self._folders.open(self.name) as (folder, _):
                os.fsync(folder)

    def abort(self) -> None:
        if self._file is None:
            return
        file, self._file = self._file, None
        # If the removal fails, an unfinished object stays behind, and vacuum finds it.
        with suppress(OSError):
            os.close(file)
        with suppress(OSError), self._folders.open(self.name) as (folder, _):
            os.unlink(self._temp, dir_fd=folder)
