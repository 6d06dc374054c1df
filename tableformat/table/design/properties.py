"""The properties of a table: each one is checked before it is stored.

The module that uses a property also defines its values. Users read about them in
docs/spark-sql.md#properties-of-a-table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from colonnade.manifests.commit.rebase.reads import ISOLATION, ISOLATION_LEVELS
from colonnade.manifests.compaction.policy import check_policy
from colonnade.manifests.compaction.purge import purge_share
from colonnade.manifests.epochs.agreement import idle_ms
from colonnade.manifests.errors import InvalidInputError
from colonnade.manifests.model.columns.text_policy import check_text_policy
from colonnade.manifests.model.primary_key import key_fields
from colonnade.manifests.state.snapshot import TableState
from colonnade.manifests.vacuum.retention import check_retention
from colonnade.tableformat.table.design.lifetimes import lifetime_properties
from colonnade.tableformat.table.design.other_formats import without_peer_words

SORT_KEY = "sortKey"
"""The name of the sort key where Spark shows it among the properties."""
PRIMARY_KEY = "primaryKey"
"""The name of the primary key where Spark shows it among the properties."""


def shown_properties(table: TableState) -> dict[str, str]:
    """Return the properties of a table as Spark shows them, with its primary key among them."""
    key = key_fields(table.primary_key, table.schema)
    shown = stated_properties(table)
    return {**shown, PRIMARY_KEY: ", ".join(field.name for field in key)} if key else shown


def stated_properties(table: TableState) -> dict[str, str]:
    """Return the properties that users have set, with those about its lifetimes among them."""
    return {**table.properties, **lifetime_properties(table)}


def checked_properties(properties: Mapping[str, str]) -> dict[str, str]:
    """Return the properties to store of those that a user sets.

    Unknown properties may have any text. A property of another format is not stored, and has a
    notice (`other_formats.py`). Raises InvalidInputError, which names the property, for a name or
    value that is not text, for a value that a known property does not allow, and for a property of
    another format that promises something.
    """
    if not isinstance(properties, dict):
        raise InvalidInputError(f"Properties must be a dict of texts, not {properties!r}.")
    for key, value in properties.items():
        if not (isinstance(key, str) and isinstance(value, str)):
            raise InvalidInputError(f"Property {key!r} must have text as name and value.")
        # In a key, the library that writes JSON would put other characters in its place.
        if _has_half_of_a_pair(key + value):
            raise InvalidInputError(
                f"Property {key!r} has half of a surrogate pair in its name or value, which no"
                " file can hold; leave it out."
            )
    if SORT_KEY in properties:
        raise InvalidInputError(
            f"{SORT_KEY!r} is not a property that can be set; give the sort key when you create"
            " the table, or change it with SetSortKey."
        )
    if PRIMARY_KEY in properties:
        raise InvalidInputError(
            f"{PRIMARY_KEY!r} is not a property that can be set; give the primary key when you"
            " create the table, or change it with SetPrimaryKey."
        )
    check_policy(properties)
    purge_share(properties)
    check_retention(properties)
    idle_ms(properties)
    check_text_policy(properties)
    if properties.get(ISOLATION, ISOLATION_LEVELS[0]) not in ISOLATION_LEVELS:
        raise InvalidInputError(
            f"Property {ISOLATION!r} must be {' or '.join(ISOLATION_LEVELS)}, not"
            f" {properties[ISOLATION]!r}."
        )
    return without_peer_words(properties, "Property")


def check_property_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of properties that a user removes.

    Raises InvalidInputError for a single text, and for anything but a list of texts.
    """
    if isinstance(names, Iterable) and not isinstance(names, str | bytes):
        found = tuple(names)
        if all(isinstance(name, str) for name in found):
            return found
    raise InvalidInputError(f"Properties to remove must be a list of their names, not {names!r}.")


def check_comment(comment: str | None) -> None:
    """Raise InvalidInputError for the comment of a table that is not text."""
    if comment is not None and not isinstance(comment, str):
        raise InvalidInputError(f"The comment of a table must be text, not {comment!r}.")


def _has_half_of_a_pair(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
