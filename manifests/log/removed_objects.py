"""Remove the objects of a dropped database from a store that keeps its log.

Spec: docs/spec/layout.md#dropping
"""

from __future__ import annotations

from colonnade.manifests.errors import AlreadyExistsError, InvalidInputError, StoreError
from colonnade.manifests.object_names import MANIFEST
from colonnade.manifests.store.object_store import ObjectStore


def remove_objects(store: ObjectStore) -> None:
    """Remove everything of a database but its log, and end its unfinished objects.

    May be called again: it then removes what late writers have left. Requires: the log has ended.
    Cost: a listing of the database, and the requests of `remove_many`. Raises StoreError that names
    the first object that may still exist.
    """
    names = [info.name for info in store.list("") if not info.name.startswith(f"{MANIFEST}/")]
    failed = store.remove_many(names)
    for info in store.list_unfinished():
        store.delete_unfinished(info.name)
    if failed:
        first = next(iter(failed.values()))
        raise StoreError(
            f"{len(failed)} of {len(names)} objects could not be removed; drop the database again:"
            f" {first.message}",
            isinstance(first, StoreError) and first.retryable,
        )


def damaged_error(store: ObjectStore) -> InvalidInputError:
    """Return the error for a drop of a database whose log cannot be read, and so not ended."""
    return InvalidInputError(
        f"{store.url} cannot be dropped, because its log cannot be read and so cannot be ended;"
        " remove everything below that URL with a tool of the store once no writer runs any more."
    )


def used_place_error(store: ObjectStore) -> AlreadyExistsError:
    """Return the error for a new database at the place of one that was dropped."""
    return AlreadyExistsError(
        f"{store.url} is the place of a database that was dropped. Its log stays, so that"
        " a late writer cannot commit to another database; choose another place."
    )
