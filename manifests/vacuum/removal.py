"""Delete objects that an epoch of the log has named before.

Spec: docs/spec/vacuum.md#run
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from colonnade.manifests.errors import StoreError
from colonnade.manifests.store.object_store import ObjectStore
from colonnade.manifests.vacuum.objects import StoredFile


def remove(store: ObjectStore, files: Sequence[StoredFile]) -> None:
    """Delete files, then the folders of RowSets that are empty afterwards.

    If one file cannot be deleted, the call still deletes the rest. Cost: that of
    `ObjectStore.remove_many`, and a request for each unfinished file. Raises StoreError that names
    the first such file; the next run finds all of them again.
    """
    unfinished = [each.info.name for each in files if each.unfinished]
    results = store.together([partial(_delete_unfinished, store, name) for name in unfinished])
    errors = [error for error in results if error is not None]
    for error in store.remove_many([f.info.name for f in files if not f.unfinished]).values():
        if not isinstance(error, StoreError):
            raise error
        errors.append(error)
    for folder in sorted({each.folder for each in files if each.folder is not None}):
        store.remove_folder(folder)
    if errors:
        raise StoreError(
            f"Vacuum could not remove {len(errors)} of {len(files)} files: {errors[0].message}",
            errors[0].retryable,
        )


def _delete_unfinished(store: ObjectStore, name: str) -> StoreError | None:
    try:
        store.delete_unfinished(name)
    except StoreError as error:
        return error
    return None
