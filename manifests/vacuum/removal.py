"""Delete objects that an epoch of the log has named before.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.base import ObjectStore
from colonnade.manifests.vacuum.objects import Stored


def remove(store: ObjectStore, files: Sequence[Stored], threads: int = 8) -> None:
    """Delete files, then the folders of RowSets that are empty afterwards.

    If one file cannot be deleted, the call still deletes the rest. Raises StoreError that names the
    first such file; the next run finds all of them again.
    """
    failed = [error for error in _each(store, files, threads) if error is not None]
    for folder in sorted({each.folder for each in files if each.folder is not None}):
        store.remove_folder(folder)
    if failed:
        raise StoreError(
            f"Vacuum could not remove {len(failed)} of {len(files)} files: {failed[0].message}",
            failed[0].retryable,
        )


def _each(store: ObjectStore, files: Iterable[Stored], threads: int) -> Iterable[StoreError | None]:
    def delete(each: Stored) -> StoreError | None:
        try:
            if each.unfinished:
                store.delete_unfinished(each.info.name)
            else:
                store.delete(each.info.name)
        except StoreError as error:
            return error
        return None

    if threads == 1:
        return [delete(each) for each in files]
    with ThreadPoolExecutor(threads, "colonnade-vacuum") as pool:
        return list(pool.map(delete, files))
